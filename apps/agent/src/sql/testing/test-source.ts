import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { AgentEvent } from '../../agent-event.ts'
import { ingestClient } from '../../ingest-client.ts'
import { type AgentDeps, uploadLimits } from '../../pipeline/context.ts'
import { runCycle } from '../../pipeline/cycle.ts'
import { openState } from '../../state/state.ts'
import { temporaryFolder } from '../../testing/test-agent.ts'
import { createView, startTestService } from '../../testing/test-service.ts'
import { sqlConnector } from '../connector.ts'
import type { SqlSettings } from '../settings.ts'

/** An agent that reads a database by a mapping, with an ingest server of its own and a clock that the test moves. */
export async function someSqlAgent(t: TestContext, database: SqlSettings, mapping: object) {
  const server = await startTestService(t)
  const view = createView(server)
  const folder = temporaryFolder(t)
  const clock = { ms: Date.now() }
  const events: AgentEvent[] = []
  const identity = { serverUrl: server.url, agentId: server.agentId, organizationId: server.organizationId }
  const mappingPath = join(folder, 'mapping.json')
  let state = openState(join(folder, 'state', 'state.sqlite'), identity, () => clock.ms)
  t.after(() => state.close())
  const newConnector = () => sqlConnector({ database, mapping: mappingPath, timeZone: null }, () => clock.ms)
  let connector = newConnector()
  const world = {
    server,
    events,
    clock,
    mappingPath,
    connector: () => connector,
    setMapping: (content: object) => writeFileSync(mappingPath, JSON.stringify(content)),
    deps: (signal = new AbortController().signal): AgentDeps => ({
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
      signal,
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
    visible: view.visible,
  }
  world.setMapping(mapping)
  return world
}
