import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sealRelease } from '@bridgework/contract/signed-release'
import { temporaryFolder } from '../testing/test-agent.ts'
import { type LaunchDeps, launch, reportWithinMs } from './launch.ts'
import { openUpdates } from './updates.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')

/** A launcher on a clock of the test's own, with agents that do as they are told. */
function office(t: TestContext) {
  const folder = temporaryFolder(t)
  const updates = openUpdates(folder, publicKey)
  const stop = new AbortController()
  const said: string[] = []
  const agents: { name: string; report: () => void; end: (code: number) => void; killed: boolean }[] = []
  const sleeping = new Set<{ until: number; wake: () => void }>()
  let nowMs = 0
  const deps: LaunchDeps = {
    packaged: { version: '0.2.0', program: '/packaged' },
    updates,
    start: (program) => {
      const { promise: reported, resolve: report } = Promise.withResolvers<void>()
      const { promise: ended, resolve: end } = Promise.withResolvers<number>()
      const agent = { name: basename(program), report, end, killed: false }
      agents.push(agent)
      const kill = () => {
        agent.killed = true
        end(1)
      }
      return { reported, ended, stop: () => end(0), kill }
    },
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          sleeping.delete(sleeper)
          resolve()
        }
        const sleeper = { until: nowMs + ms, wake }
        sleeping.add(sleeper)
        signal.addEventListener('abort', sleeper.wake)
      }),
    say: (text) => said.push(text),
    stop: stop.signal,
  }
  const settle = async () => {
    for (let turns = 0; turns < 10; turns++) await setImmediate()
  }
  return {
    folder,
    updates,
    deps,
    said,
    stop,
    install: (version: string) => updates.install(sealRelease(version, Buffer.from(version), privateKey), '0.2.0'),
    pass: async (ms: number) => {
      await settle()
      nowMs += ms
      for (const sleeper of [...sleeping]) if (sleeper.until <= nowMs) sleeper.wake()
      await settle()
    },
    running: () => agents.at(-1) ?? assert.fail('no agent runs'),
    names: () => agents.map(({ name }) => name),
  }
}

test('a new version runs within a minute, and is the current one when it reports', async (t) => {
  const { deps, install, pass, running, names, said, updates, stop } = office(t)
  const done = launch(deps)
  install('0.3.0')
  await pass(30_000)
  assert.deepEqual(names(), ['packaged', '0.3.0.mjs'])
  running().report()
  await pass(reportWithinMs)
  assert.deepEqual(updates.read(), { current: '0.3.0', next: null, starts: 0, refused: [] })
  assert.deepEqual(said, [
    'Trying version 0.3.0. It has 10 minutes to report to Bridgework.',
    'Version 0.3.0 reported. It is the current one.',
  ])
  stop.abort()
  assert.equal(await done, 0)
  // The next start begins with it, and an exit code is passed on.
  const again = launch({ ...deps, stop: new AbortController().signal })
  await pass(0)
  running().end(3)
  assert.equal(await again, 3)
  assert.deepEqual(names(), ['packaged', '0.3.0.mjs', '0.3.0.mjs'])
})

test('a version that does not report within 10 minutes is killed and rolled back, and that is said', async (t) => {
  const { deps, install, pass, running, names, said, updates, stop } = office(t)
  install('0.3.0')
  const done = launch(deps)
  await pass(reportWithinMs - 1)
  assert.deepEqual(names(), ['0.3.0.mjs'])
  const tried = running()
  await pass(1)
  assert.ok(tried.killed)
  assert.deepEqual(names(), ['0.3.0.mjs', 'packaged'])
  assert.match(
    said.at(-1) ?? '',
    /^ROLLED BACK: version 0\.3\.0, because it did not report within 10 minutes\. .* 0\.2\.0/,
  )
  assert.deepEqual(updates.read().refused, ['0.3.0'])
  stop.abort()
  assert.equal(await done, 0)
})

test('a version that ends before it reports is rolled back at once, whatever its exit code', async (t) => {
  for (const code of [0, 1, 2, 3]) {
    const { deps, install, pass, running, names, stop } = office(t)
    install('0.3.0')
    const done = launch(deps)
    await pass(0)
    running().end(code)
    await pass(0)
    assert.deepEqual(names(), ['0.3.0.mjs', 'packaged'])
    stop.abort()
    await done
  }
})

test('a version that takes the computer down is given up at its fourth start', async (t) => {
  const { deps, install, pass, running, said } = office(t)
  install('0.3.0')
  for (const expected of ['0.3.0.mjs', '0.3.0.mjs', '0.3.0.mjs', 'packaged']) {
    // Left as it is, as by a power cut.
    launch(deps)
    await pass(0)
    assert.equal(running().name, expected)
  }
  assert.match(said.at(-1) ?? '', /ROLLED BACK: .* 3 times without a report/)
})

test('a stop during the trial is no reason to roll back', async (t) => {
  const { deps, install, pass, updates, stop } = office(t)
  install('0.3.0')
  const done = launch(deps)
  await pass(0)
  stop.abort()
  assert.equal(await done, 0)
  assert.equal(updates.read().next, '0.3.0')
})

test('a package that is newer than what was installed wins', async (t) => {
  const { deps, install, pass, running, names, said } = office(t)
  install('0.3.0')
  const done = launch({ ...deps, packaged: { version: '0.4.0', program: '/packaged' } })
  await pass(0)
  assert.deepEqual(names(), ['packaged'])
  assert.deepEqual(said, [
    'ROLLED BACK: version 0.3.0, because its release is damaged, or older than the package. Going on with 0.4.0.',
  ])
  running().end(0)
  assert.equal(await done, 0)
})

test('where the current version is damaged, the package’s runs, and that is said', async (t) => {
  const { deps, pass, running, names, said, updates } = office(t)
  updates.write({ current: '0.3.0', next: null, starts: 0, refused: [] })
  const done = launch(deps)
  await pass(0)
  assert.deepEqual(names(), ['packaged'])
  assert.deepEqual(said, ['Version 0.3.0 is damaged. Going on with 0.2.0 of the package.'])
  running().end(0)
  assert.equal(await done, 0)
})

test('where the state cannot be written, nothing new is tried and the agent runs', async (t) => {
  const { deps, install, pass, running, names, said, updates } = office(t)
  install('0.3.0')
  const full = Object.assign(new Error('full'), { code: 'ENOSPC' })
  const write = () => {
    throw full
  }
  const done = launch({ ...deps, updates: { ...updates, write } })
  await pass(0)
  assert.deepEqual(names(), ['packaged'])
  assert.match(said[0] ?? '', /^The state of updates cannot be written \(ENOSPC\)\.$/)
  running().end(0)
  assert.equal(await done, 0)
})

test('K53: where the folder of updates is not the agent’s own, the package’s version runs, and that is said', async (t) => {
  const { folder, deps, install, pass, running, names, said } = office(t)
  install('0.3.0')
  chmodSync(join(folder, 'updates'), 0o777)
  const done = launch(deps)
  await pass(0)
  assert.deepEqual(names(), ['packaged'])
  assert.match(said[0] ?? '', /Installed updates are not used: Another account .* chmod go-w/)
  running().end(0)
  assert.equal(await done, 0)
})
