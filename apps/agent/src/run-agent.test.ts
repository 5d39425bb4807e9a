import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ingestClient } from './ingest-client.ts'
import { uploadLimits } from './pipeline/context.ts'
import { testSource } from './pipeline/testing/test-source.ts'
import { runAgent } from './run-agent.ts'
import { openState } from './state/state.ts'
import { temporaryFolder } from './testing/test-agent.ts'
import { startTestService } from './testing/test-service.ts'

/** Runs the agent until it has waited `waits` times between its cycles, and gives those waits. */
async function waitsOf(t: TestContext, waits: number, server: Awaited<ReturnType<typeof startTestService>>) {
  const identity = { serverUrl: server.url, agentId: server.agentId, organizationId: server.organizationId }
  const state = openState(join(temporaryFolder(t), 'state.sqlite'), identity)
  const stop = new AbortController()
  const between: number[] = []
  const outcome = await runAgent(
    {
      connector: testSource(),
      client: ingestClient({ ...identity, agentKey: server.agentKey }),
      state,
      limits: uploadLimits,
      sleep: async (ms) => {
        // Within a cycle the longest wait is a minute; between cycles it is an hour or more.
        if (ms < 3_000_000) return
        between.push(ms)
        if (between.length === waits) stop.abort()
      },
      random: () => 0.5,
      nowMs: Date.now,
      report: () => {},
      signal: stop.signal,
    },
    { intervalMs: 3_600_000 },
  )
  state.close()
  return { outcome, between }
}

test('cycles follow each other at the interval', async (t) => {
  const { outcome, between } = await waitsOf(t, 3, await startTestService(t))
  assert.deepEqual(between, [3_600_000, 3_600_000, 3_600_000])
  assert.deepEqual(outcome, { result: 'stopped' })
})

test('after failures the agent waits longer and longer, and as long as the server asks', async (t) => {
  const server = await startTestService(t)
  server.world.interference = () => ({ status: 500, body: { errors: 'e' } })
  assert.deepEqual((await waitsOf(t, 3, server)).between, [3_600_500, 3_601_000, 3_602_000])
  server.world.interference = () => ({ status: 503, body: { errors: 'e' }, headers: { 'retry-after': '7200' } })
  assert.ok(((await waitsOf(t, 1, server)).between[0] ?? 0) >= 7_200_000)
})

test('a refused key is tried again each hour, and so is what something in between answers', async (t) => {
  const server = await startTestService(t)
  server.world.interference = () => ({ status: 401, body: { errors: 'e', code: 'agent_key_invalid' } })
  assert.deepEqual(await waitsOf(t, 2, server), { outcome: { result: 'stopped' }, between: [3_600_000, 3_600_000] })
  // The status alone is not the service's.
  server.world.interference = () => ({ status: 401, body: { errors: 'e' } })
  const { between } = await waitsOf(t, 2, server)
  assert.ok(
    between.every((ms) => ms > 3_600_000),
    String(between),
  )
})
