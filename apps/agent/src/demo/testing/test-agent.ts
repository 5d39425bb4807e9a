import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findDataset } from '@bridgework/contract'
import { keyOrder } from '@bridgework/practice-simulator'
import type { AgentEvent } from '../../agent-event.ts'
import { sleep } from '../../backoff.ts'
import type { Connector, SourceRecord } from '../../connector.ts'
import { ingestClient } from '../../ingest-client.ts'
import { type AgentDeps, uploadLimits } from '../../pipeline/context.ts'
import { openState } from '../../state/state.ts'
import type { TestService } from '../../testing/test-service.ts'

type Cleanup = { after(work: () => Promise<void>): void }

/** What `runCycle` needs to bring a connector's records to a service, with a memory of its own that is gone after the test. */
export async function testAgent(
  t: Cleanup,
  server: TestService,
  connector: Connector,
): Promise<AgentDeps & { readonly events: readonly AgentEvent[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'bw-agent-'))
  const identity = { serverUrl: server.url, agentId: server.agentId, organizationId: server.organizationId }
  const state = openState(join(folder, 'agent.sqlite'), identity)
  t.after(async () => {
    state.close()
    await rm(folder, { recursive: true, force: true })
  })
  const events: AgentEvent[] = []
  return {
    connector,
    client: ingestClient({ ...identity, agentKey: server.agentKey }),
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

/**
 * What the service shows of every dataset, as a practice's truth says it: in the order of the keys. A record that its source hid and then removed stays
 * hidden, so it counts only where the truth has it.
 */
export async function served(server: TestService) {
  const all = await server.everything()
  return (dataset: string, location: string, truth: readonly SourceRecord[]): SourceRecord[] => {
    const there = new Set(truth.map(({ source_id }) => source_id))
    return [...(all.get(`${location}/${dataset}`) ?? [])]
      .filter(([sourceId, { is_hidden }]) => is_hidden !== true || there.has(sourceId))
      .map(([source_id, attributes]) => ({ source_id, attributes }) as SourceRecord)
      .sort((left, right) => keyOrder(left.source_id, right.source_id))
  }
}

/** The truth as a service has it whose practice granted no notes. */
export function withoutNotes(dataset: string, truth: readonly SourceRecord[]): SourceRecord[] {
  const nulls = Object.fromEntries((findDataset(dataset)?.notes ?? []).map((name) => [name, null]))
  return truth.map((record) => ({ ...record, attributes: { ...record.attributes, ...nulls } }))
}
