import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeTestFolder } from './test-folder.ts'

test('a test run keeps its files in RAM where there is room, else on the disk', (t) => {
  const place = makeTestFolder()
  t.after(() => rmSync(place, { recursive: true }))

  const roomy = makeTestFolder({ place, room: 8 * 2 ** 30 })
  const narrow = makeTestFolder({ place, room: 64 * 2 ** 20 })
  const missing = makeTestFolder({ place: join(place, 'missing') })
  t.after(() => {
    for (const folder of [narrow, missing]) rmSync(folder, { recursive: true })
  })

  assert.equal(dirname(roomy), place)
  assert.deepEqual([narrow, missing].map(dirname), [tmpdir(), tmpdir()])
  for (const folder of [roomy, narrow, missing]) assert.ok(existsSync(join(folder, 'tmp')))
})

test('the files of a test run that was killed are removed', async () => {
  const code = `import { makeTestFolder, removeWhenKilled } from './test-folder.ts'
    const folder = makeTestFolder()
    removeWhenKilled(folder)
    console.log(folder)
    setInterval(() => {}, 60_000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await once(child.stdout, 'data')
  const folder = String(printed).trim()
  assert.ok(existsSync(folder))

  child.kill('SIGKILL')

  for (const until = performance.now() + 10_000; existsSync(folder); await sleep(20)) {
    assert.ok(performance.now() < until, `${folder} is still there.`)
  }
})
