import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryLock } from './file-lock.ts'

test('a lock is its holder’s alone until that one lets go of it', async (t) => {
  const lock = someLock(t)
  const release = await take(lock)
  assert.equal(await tryLock(lock), null)

  await release()
  const again = await take(lock)
  await release()

  assert.equal(await tryLock(lock), null)
  await again()
  assert.equal(existsSync(lock), false)
})

test('a process that is killed at any moment leaves no lock that another must wait for', async (t) => {
  const lock = someLock(t)
  for (let kill = 0; kill < 25; kill++) {
    const { child, begun } = startHolder(t, lock)
    await begun
    await sleep(Math.random() * 8)
    child.kill('SIGKILL')
    await once(child, 'exit')

    const release = await take(lock)
    await release()
  }
})

test('of many that find a dead holder one takes its place', async (t) => {
  const lock = someLock(t)
  const { child, begun } = startHolder(t, lock)
  await begun
  child.kill('SIGKILL')
  await once(child, 'exit')
  for (let round = 0; round < 20; round++) {
    writeFileSync(lock, `${child.pid} 1 ${hostname()} ${round}`)
    const taken = await Promise.all(Array.from({ length: 20 }, () => tryLock(lock)))

    const releases = taken.filter((release) => release !== null)
    assert.equal(releases.length, 1)
    await releases[0]?.()
    assert.equal(existsSync(lock), false)
  }
})

test('the lock of a process that had this one’s number before it is a dead one’s', async (t) => {
  const lock = someLock(t)
  await take(lock)
  const [pid, started, ...rest] = readFileSync(lock, 'utf8').split(' ')
  writeFileSync(lock, [pid, Number(started) - 60_000, ...rest].join(' '))

  assert.ok(await tryLock(lock))
})

test('a lock of another machine is taken over when its holder has not touched it for long, and who comes back lets it be', async (t) => {
  const lock = someLock(t)
  writeFileSync(lock, '1 1 elsewhere 1')
  assert.equal(await tryLock(lock), null)

  utimesSync(lock, new Date(0), new Date(0))
  const release = await take(lock)
  utimesSync(lock, new Date(0), new Date(0))
  await take(lock)
  await release()

  assert.equal(await tryLock(lock), null)
})

async function take(lock: string): Promise<() => Promise<void>> {
  return (await tryLock(lock)) ?? assert.fail(`it is held: ${readFileSync(lock, 'utf8')}`)
}

function startHolder(t: TestContext, lock: string) {
  const program = join(import.meta.dirname, 'test-lock-process.ts')
  const child = spawn(process.execPath, [program, lock], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  return { child, begun: once(child.stdout, 'data') }
}

function someLock(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-client-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'lock')
}
