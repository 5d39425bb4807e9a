import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { datasets } from '@bridgework/contract'
import type { AgentEvent } from '../agent-event.ts'
import { ingestClient } from '../ingest-client.ts'
import { uploadLimits } from '../pipeline/context.ts'
import { runCycle } from '../pipeline/cycle.ts'
import { openState } from '../state.ts'
import { startTestIngestServer } from '../test-ingest-server.ts'
import { openDentalConnector } from './connector.ts'
import type { DatabaseSettings } from './database-settings.ts'

export type TestCopy = {
  /** One pass of the agent. Fails when it does not complete, or when the server refuses a record. */
  run(): Promise<readonly AgentEvent[]>
  visible(location: string, dataset: string): Map<string, Record<string, unknown>>
  /** All that vendors would see: location, dataset, source id → attributes. */
  everything(): Record<string, Record<string, unknown>>
}

/** An ingest server with an agent that keeps its copy of a database current. `now` is the agent's clock. */
export async function testCopy(
  t: { after(work: () => Promise<void>): void },
  settings: DatabaseSettings,
  options: { now: () => Date; timeZone?: string | null },
): Promise<TestCopy> {
  const server = await startTestIngestServer(t)
  server.world.removalsConfirmed = true
  const folder = mkdtempSync(join(tmpdir(), 'bwa-'))
  const identity = { serverUrl: server.url, agentId: server.agentId, organizationId: server.organizationId }
  const state = openState(join(folder, 'state.sqlite'), identity)
  t.after(async () => {
    state.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    visible: server.visible,
    run: async () => {
      const events: AgentEvent[] = []
      const outcome = await runCycle({
        connector: openDentalConnector(settings, options.timeZone ?? null, options.now),
        client: ingestClient({ ...identity, agentKey: server.agentKey, timeoutMs: 30_000 }),
        state,
        limits: uploadLimits,
        sleep: async () => {},
        random: () => 0.5,
        nowMs: Date.now,
        report: (event) => events.push(event),
        signal: new AbortController().signal,
      })
      assert.equal(outcome.result, 'complete', JSON.stringify(events.at(-1)))
      const refused = events.filter((event) => event.event === 'record.refused')
      assert.deepEqual(refused, [])
      return events
    },
    everything: () => {
      const all: Record<string, Record<string, unknown>> = {}
      for (const location of [...server.locations.keys()].sort()) {
        for (const { name } of datasets) {
          all[`${location} ${name}`] = Object.fromEntries([...server.visible(location, name)].sort())
        }
      }
      return all
    },
  }
}
