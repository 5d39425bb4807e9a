import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { AgentEvent } from '../../agent-event.ts'
import { ingestClient } from '../../ingest-client.ts'
import { type AgentDeps, uploadLimits } from '../../pipeline/context.ts'
import { runCycle } from '../../pipeline/cycle.ts'
import { openState } from '../../state/state.ts'
import { temporaryFolder } from '../../testing/test-agent.ts'
import { createView, startTestService } from '../../testing/test-service.ts'
import { filesConnector } from '../connector.ts'

/** An agent that reads a folder of a test's own, with an ingest server of its own and a clock that the test moves. */
export async function someFolder(t: TestContext, mapping: string | object) {
  const server = await startTestService(t)
  const view = createView(server)
  const folder = temporaryFolder(t)
  const clock = { ms: Date.parse('2026-11-20T12:00:00Z') }
  const events: AgentEvent[] = []
  const stop = new AbortController()
  const identity = { serverUrl: server.url, agentId: server.agentId, organizationId: server.organizationId }
  let state = openState(join(folder, 'state', 'state.sqlite'), identity, () => clock.ms)
  t.after(() => state.close())
  const mappingPath = join(folder, typeof mapping === 'string' ? 'mapping.toml' : 'mapping.json')
  const settings = { folder: join(folder, 'exports'), mapping: mappingPath, timeZone: null }
  mkdirSync(settings.folder)
  let whileSettling = () => {}
  const ownClock = {
    monotonicMs: () => clock.ms,
    sleep: async (ms: number) => {
      clock.ms += ms
      whileSettling()
    },
    waitMaxMs: 30_000,
  }
  const newConnector = () => filesConnector(settings, ownClock, () => clock.ms)
  let connector = newConnector()
  const world = {
    server,
    settings,
    clock,
    /** What happens between two looks at a file. */
    whileSettling: (work: () => void) => {
      whileSettling = work
    },
    events,
    stop,
    connector: () => connector,
    setMapping: (content: string | object) =>
      writeFileSync(mappingPath, typeof content === 'string' ? content : JSON.stringify(content)),
    /** Writes an export that was finished a minute ago, by the test's clock. */
    write: (name: string, content: string | Buffer, agoMs = 60_000) => {
      const path = join(settings.folder, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
      utimesSync(path, new Date(clock.ms - agoMs), new Date(clock.ms - agoMs))
    },
    deps: (): AgentDeps => ({
      connector,
      client: ingestClient({ ...identity, agentKey: server.agentKey, timeoutMs: 10_000 }),
      state,
      limits: uploadLimits,
      sleep: async (ms) => {
        clock.ms += ms
      },
      random: () => 0.5,
      nowMs: () => clock.ms,
      report: (event) => events.push(event),
      signal: stop.signal,
    }),
    run: async () => {
      events.length = 0
      clock.ms += 60_000
      const { result } = await runCycle(world.deps())
      await view.refresh()
      return result
    },
    /** As a process that died and was started again. */
    restart: () => {
      state.close()
      state = openState(join(folder, 'state', 'state.sqlite'), identity, () => clock.ms)
      connector = newConnector()
    },
    named: <Name extends AgentEvent['event']>(name: Name) =>
      events.filter((event): event is AgentEvent & { event: Name } => event.event === name),
    /** What vendors saw of a dataset at a location after the last cycle, by source id. */
    visible: view.visible,
  }
  world.setMapping(mapping)
  return world
}

/** A mapping of one location and one dataset, with what matters to the test. */
export function oneDataset(dataset: string, more: object, top: object = {}) {
  return { locations: { main: { name: 'Main', time_zone: 'America/Chicago' } }, datasets: { [dataset]: more }, ...top }
}

export const plans = oneDataset('insurance_plans', { file: 'plans.csv', key: 'No', attributes: { plan_name: 'Name' } })

/** A file of `plans`, by the plans' keys. */
export function csvOf(rows: Record<string, string>): string {
  return ['No,Name', ...Object.entries(rows).map(([key, name]) => `${key},${name}`), ''].join('\n')
}

/** The names of plans that vendors see, by key. */
export function namesOf(records: ReadonlyMap<string, Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries([...records].map(([key, attributes]) => [key, attributes.plan_name]))
}
