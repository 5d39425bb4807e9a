import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { AgentEvent } from '../../agent-event.ts'
import { ingestClient } from '../../ingest-client.ts'
import { openState } from '../../state/state.ts'
import { createView, startTestService } from '../../testing/test-service.ts'
import { type AgentDeps, uploadLimits } from '../context.ts'
import { runCycle } from '../cycle.ts'
import { testPlan, testSource } from './test-source.ts'

/** An agent with a source in memory, an ingest server of its own and a clock that only waiting moves. */
export async function someAgent(t: TestContext, options: { plans?: number; linesMax?: number } = {}) {
  const server = await startTestService(t)
  const source = testSource()
  const view = createView(server)
  for (let id = 1; id <= (options.plans ?? 3); id++)
    source.content.insurance_plans.set(String(id), testPlan(String(id), `Plan ${id}`))
  const folder = mkdtempSync(join(tmpdir(), 'bwa-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const events: AgentEvent[] = []
  const waits: number[] = []
  const clock = { ms: Date.parse('2026-11-20T12:00:00Z') }
  const identity = { serverUrl: server.url, agentId: server.agentId, organizationId: server.organizationId }
  const statePath = join(folder, 'state.sqlite')
  let state = openState(statePath, identity, () => clock.ms)
  t.after(() => state.close())
  const stop = new AbortController()
  const agent = {
    server,
    source,
    events,
    waits,
    clock,
    stop,
    statePath,
    deps: (): AgentDeps => ({
      connector: source,
      client: ingestClient({ ...identity, agentKey: server.agentKey, timeoutMs: 10_000 }),
      state,
      limits: { ...uploadLimits, linesMax: options.linesMax ?? uploadLimits.linesMax },
      sleep: async (ms) => {
        waits.push(ms)
        clock.ms += ms
      },
      random: () => 0.5,
      nowMs: () => clock.ms,
      report: (event) => events.push(event),
      signal: stop.signal,
    }),
    run: async (fully = false) => {
      const outcome = await runCycle(agent.deps(), { fully })
      await view.refresh()
      return outcome
    },
    /** As a process that died and was started again; `between` finds the state closed. */
    restart: (between = () => {}) => {
      state.close()
      between()
      state = openState(statePath, identity, () => clock.ms)
    },
    loseState: () => agent.restart(() => rmSync(statePath)),
    named: <Name extends AgentEvent['event']>(name: Name) =>
      events.filter((event): event is AgentEvent & { event: Name } => event.event === name),
    /** As vendors saw them after the last cycle. */
    plans: (location = '1') => view.visible(location, 'insurance_plans'),
    visible: view.visible,
  }
  return agent
}
