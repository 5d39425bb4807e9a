import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { livingPractice, openPracticeFile, simulatedDatasets } from '@bridgework/practice-simulator'
import { startTestService } from '../testing/test-service.ts'
import type { FeederEvent } from './feeder.ts'
import { feederExitCodes } from './feeder-exit-codes.ts'
import { served, withoutNotes } from './testing/test-agent.ts'

test('the feeder says when the server has everything, then changes something again and again', async (t) => {
  const world = await startWorld(t)
  const feeder = world.start()

  await feeder.says('synced')
  assert.equal((await world.server.visible('1', 'insurance_plans')).size, 120)
  await feeder.says('practice.changed', 5)
  assert.equal(await feeder.end(() => feeder.process.kill('SIGTERM')), 0)
  assert.ok(feeder.events.some(({ event }) => event === 'feeder.stopped'))
  await world.assertInStep({ eventsMin: 5 })
})

test('killed at any moment it goes on with the same practice, and the server ends with exactly that', async (t) => {
  const world = await startWorld(t)
  for (let round = 1; round <= 4; round++) {
    const feeder = world.start()
    await feeder.says('practice.changed', round)
    await feeder.end(() => feeder.process.kill('SIGKILL'))
  }
  await world.assertInStep({ eventsMin: 10 })
})

test('it ends when the process that started it is gone', async (t) => {
  const world = await startWorld(t)
  const feeder = world.start()
  await feeder.says('synced')
  assert.equal(await feeder.end(() => feeder.process.stdin?.end()), 0)
})

test('it waits and goes on when the server is away for a while', async (t) => {
  const world = await startWorld(t)
  const feeder = world.start()
  await feeder.says('synced')
  let failures = 2
  world.server.world.interference = () =>
    failures-- > 0
      ? { status: 503, body: { errors: 'not now', code: 'unavailable' }, headers: { 'retry-after': '0' } }
      : undefined
  await feeder.says('upload.retried')
  const changes = feeder.events.filter(({ event }) => event === 'practice.changed').length
  await feeder.says('practice.changed', changes + 2)
  await feeder.end(() => feeder.process.kill('SIGTERM'))
  await world.assertInStep({ eventsMin: changes + 2 })
})

test('a refused key ends it, with the reason', async (t) => {
  const world = await startWorld(t)
  world.server.world.interference = () => ({ status: 401, body: { errors: 'wrong key', code: 'agent_key_invalid' } })
  const feeder = world.start()
  assert.equal(await feeder.end(() => {}), feederExitCodes.keyRefused)
  assert.ok(feeder.events.some((event) => event.event === 'cycle.failed' && event.because === 'key_refused'))
})

test('bad settings are all named before anything begins', async (t) => {
  const world = await startWorld(t)
  const feeder = world.start({ BRIDGEWORK_FEEDER_AGENT_KEY: 'x', BRIDGEWORK_FEEDER_STATE_DIR: '' })
  assert.equal(await feeder.end(() => {}), 2)
  assert.deepEqual(feeder.events, [])
})

async function startWorld(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'bw-feeder-'))
  const children: ChildProcess[] = []
  t.after(async () => {
    for (const child of children) child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  const server = await startTestService(t)

  function start(settings: NodeJS.ProcessEnv = {}) {
    const child = spawn(process.execPath, [fileURLToPath(new URL('main.ts', import.meta.url))], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {
        BRIDGEWORK_FEEDER_SERVER_URL: server.url,
        BRIDGEWORK_FEEDER_AGENT_KEY: server.agentKey,
        BRIDGEWORK_FEEDER_AGENT_ID: server.agentId,
        BRIDGEWORK_FEEDER_ORGANIZATION_ID: server.organizationId,
        BRIDGEWORK_FEEDER_STATE_DIR: join(folder, 'state'),
        BRIDGEWORK_FEEDER_INTERVAL_MS: '20',
        BRIDGEWORK_FEEDER_SEED: 'feeder',
        ...settings,
      },
    })
    children.push(child)
    return watch(child)
  }

  return {
    server,
    start,
    /** One more start, calm enough to change nothing: then what the server holds is the practice on disk. */
    assertInStep: async ({ eventsMin }: { eventsMin: number }) => {
      const feeder = start({ BRIDGEWORK_FEEDER_INTERVAL_MS: '60000' })
      await feeder.says('synced')
      assert.equal(await feeder.end(() => feeder.process.kill('SIGTERM')), 0)
      const file = openPracticeFile(join(folder, 'state', 'practice.sqlite'), () => assert.fail('there is no practice'))
      assert.ok(file.stored.eventsSoFar >= eventsMin)
      const truth = livingPractice(file.stored.practice, file.stored.eventsSoFar).truth()
      file.close()
      const visible = await served(server)
      for (const dataset of simulatedDatasets) {
        for (const [location, records] of truth.get(dataset) ?? [])
          assert.deepEqual(visible(dataset, location, records), withoutNotes(dataset, records))
      }
    },
  }
}

function watch(child: ChildProcess) {
  const events: FeederEvent[] = []
  const waiting = new Set<() => void>()
  assert.ok(child.stdout)
  const closed = once(child, 'close')
  createInterface({ input: child.stdout }).on('line', (line) => {
    events.push(JSON.parse(line))
    for (const wake of waiting) wake()
  })
  return {
    process: child,
    events,
    /** Waits until the event was said so often; fails when the feeder ends before. */
    says: async (name: FeederEvent['event'], times = 1): Promise<FeederEvent> => {
      for (;;) {
        const said = events.filter(({ event }) => event === name)[times - 1]
        if (said !== undefined) return said
        await Promise.race([
          new Promise<void>((resolve) => waiting.add(resolve)),
          closed.then(() => assert.fail(`the feeder ended before it said ${name}: ${JSON.stringify(events)}`)),
        ])
      }
    },
    end: async (how: () => void): Promise<number | null> => {
      how()
      await closed
      return child.exitCode
    },
  }
}
