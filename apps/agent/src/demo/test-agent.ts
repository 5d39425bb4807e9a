import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentEvent } from '../agent-event.ts'
import { sleep } from '../backoff.ts'
import type { Connector } from '../connector.ts'
import { ingestClient } from '../ingest-client.ts'
import { type AgentDeps, uploadLimits } from '../pipeline/context.ts'
import { openState } from '../state.ts'
import { type TestIngestServer, testAgentKey } from './test-ingest-server.ts'

type Cleanup = { after(work: () => Promise<void>): void }

/** What `runCycle` needs to bring a connector's records to a test server, with a memory of its own that is gone after the test. */
export async function testAgent(
  t: Cleanup,
  server: TestIngestServer,
  connector: Connector,
): Promise<AgentDeps & { readonly events: readonly AgentEvent[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'bw-agent-'))
  const identity = { serverUrl: server.url, agentId: '5', organizationId: '7' }
  const state = openState(join(folder, 'agent.sqlite'), identity)
  t.after(async () => {
    state.close()
    await rm(folder, { recursive: true, force: true })
  })
  const events: AgentEvent[] = []
  return {
    connector,
    client: ingestClient({ ...identity, agentKey: testAgentKey }),
    state,
    limits: uploadLimits,
    sleep,
    random: () => 0,
    nowMs: Date.now,
    report: (event) => events.push(event),
    signal: new AbortController().signal,
    events,
  }
}
