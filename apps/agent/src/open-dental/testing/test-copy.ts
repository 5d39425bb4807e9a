import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { completeSource, datasets, getDataset } from '@bridgework/contract'
import { canonicalSource } from '@bridgework/contract/ingest'
import { someWorld } from '../../../../server/src/testing/test-world.ts'
import type { AgentEvent } from '../../agent-event.ts'
import { ingestClient } from '../../ingest-client.ts'
import { uploadLimits } from '../../pipeline/context.ts'
import { runCycle } from '../../pipeline/cycle.ts'
import { openState } from '../../state/state.ts'
import { createView, startTestService, type TestService } from '../../testing/test-service.ts'
import { openDentalConnector } from '../connector.ts'
import type { DatabaseSettings } from '../database/database-settings.ts'

export type TestCopy = {
  /** One pass of the agent. Fails when it ends otherwise than said, or when the server refuses a record. */
  run(result?: 'complete' | 'incomplete'): Promise<readonly AgentEvent[]>
  /** Forgets how far the database had come, for a test that makes its rows older. */
  forgetAge(): void
  readonly server: TestService
  /** As people do at Bridgework: of the organization, or of the location with this key. */
  setTimeZone(timeZone: string, location?: string): Promise<void>
  visible(location: string, dataset: string): Map<string, Record<string, unknown>>
  /** All that vendors would see: location, dataset, source id → attributes. */
  everything(): Record<string, Record<string, unknown>>
}

/**
 * One for all copies of a test file, each of an organization of its own. Started here and not in `testCopy`: what `after` is given while a
 * test runs happens at that test's end.
 */
const service = await someWorld({ after })

/** A service with an agent that keeps its copy of a database current. `now` is the agent's clock; its setting is UTC unless told. */
export async function testCopy(
  t: { after(work: () => Promise<void>): void },
  settings: DatabaseSettings,
  options: { now: () => Date; timeZone?: string | null; sendNotes?: boolean; keepsSession?: boolean },
): Promise<TestCopy> {
  const server = await startTestService(t, service)
  const view = createView(server)
  let locations: string[] = []
  const folder = mkdtempSync(join(tmpdir(), 'bwa-'))
  const identity = { serverUrl: server.url, agentId: server.agentId, organizationId: server.organizationId }
  const state = openState(join(folder, 'state.sqlite'), identity)
  t.after(async () => {
    await connector.end?.()
    state.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const timeZone = options.timeZone === undefined ? 'UTC' : options.timeZone
  const connector = openDentalConnector(settings, timeZone, options.now, {
    keepsSession: options.keepsSession ?? false,
  })
  return {
    server,
    setTimeZone: server.setTimeZone,
    visible: view.visible,
    forgetAge: () => state.source.write({ reached: null, isConfirmed: false }),
    run: async (result = 'complete') => {
      const events: AgentEvent[] = []
      const outcome = await runCycle({
        connector,
        client: ingestClient({ ...identity, agentKey: server.agentKey, timeoutMs: 30_000 }),
        state,
        limits: uploadLimits,
        sendNotes: options.sendNotes ?? true,
        sleep: async () => {},
        random: () => 0.5,
        nowMs: Date.now,
        report: (event) => events.push(event),
        signal: new AbortController().signal,
      })
      assert.equal(outcome.result, result, JSON.stringify(events.at(-1)))
      const refused = events.filter((event) => event.event === 'record.refused')
      assert.deepEqual(refused, [])
      await server.confirmRemovals()
      await view.refresh()
      locations = [...(await server.locations()).keys()].sort()
      return events
    },
    everything: () => {
      const all: Record<string, Record<string, unknown>> = {}
      for (const location of locations) {
        for (const { name } of datasets) {
          all[`${location} ${name}`] = Object.fromEntries([...view.visible(location, name)].sort())
        }
      }
      return all
    },
  }
}

/** What an agent that never read before would send, by location and dataset as `everything` has it: without a note, and read in UTC. */
export async function firstReadOf(
  settings: DatabaseSettings,
  now: () => Date,
): Promise<Record<string, Record<string, unknown>>> {
  const connector = openDentalConnector(settings, 'UTC', now)
  const source = await connector.beginCycle()
  try {
    const all: Record<string, Record<string, unknown>> = {}
    for (const { source_id } of await source.readLocations())
      for (const { name } of datasets) all[`${source_id} ${name}`] = {}
    for (const name of connector.datasets) {
      const canonical = canonicalSource(getDataset(name))
      const complete = completeSource(getDataset(name))
      const { chunks } = (await source.scan?.(name)) ?? assert.fail()
      for await (const chunk of chunks) {
        for (const [location, records] of chunk) {
          const here = all[`${location} ${name}`] ?? assert.fail()
          for (const { source_id, attributes } of records) here[source_id] = complete(JSON.parse(canonical(attributes)))
        }
      }
    }
    return all
  } finally {
    await source.end()
  }
}
