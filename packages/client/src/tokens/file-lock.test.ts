import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FileLock, tryLock, withLock } from './file-lock.ts'

const isLinux = process.platform === 'linux'

test('a lock is its holder’s alone until that one lets go of it', async (t) => {
  const lock = someLock(t)
  const first = await take(lock)
  assert.equal(await tryLock(lock), null)

  await first.release()
  const second = await take(lock)
  await first.release()

  assert.equal(await tryLock(lock), null)
  assert.deepEqual([await first.isHeld(), await second.isHeld()], [false, true])
  await second.release()
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

    await (await take(lock)).release()
  }
})

test('of many that find a dead holder one takes its machine', async (t) => {
  const lock = someLock(t)
  const { child, begun } = startHolder(t, lock)
  await begun
  child.kill('SIGKILL')
  await once(child, 'exit')
  await (await take(lock)).release()
  for (let round = 0; round < 20; round++) {
    writeFileSync(lock, await withHolder(lock, { pid: child.pid, mark: round }))
    const taken = await Promise.all(Array.from({ length: 20 }, () => tryLock(lock)))

    const held = taken.filter((one) => one !== null)
    assert.equal(held.length, 1)
    await held[0]?.release()
    assert.equal(existsSync(lock), false)
  }
})

test('a process that is stopped keeps its lock', async (t) => {
  const lock = someLock(t)
  const { child, begun } = startHolder(t, lock, 'hold')
  await begun
  child.kill('SIGSTOP')

  assert.equal(await tryLock(lock, { staleAfterMs: 100 }), null)
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.ok(await tryLock(lock))
})

test('the lock of a process whose number another one has now is a dead one’s', { skip: !isLinux }, async (t) => {
  const lock = someLock(t)
  writeFileSync(lock, await withHolder(lock, { start: 1 }))

  assert.ok(await tryLock(lock))
})

test('another machine’s lock, and one that does not say whose it is, are taken over when nobody touches them', async (t) => {
  for (const holder of ['1 1 elsewhere 1', '']) {
    const lock = someLock(t)
    writeFileSync(lock, holder)
    utimesSync(lock, new Date(0), new Date(0))
    const touching = setInterval(() => utimesSync(lock, new Date(), new Date()), 20)
    assert.equal(await tryLock(lock, { staleAfterMs: 500 }), null)

    clearInterval(touching)
    const held = await take(lock, 200)
    await held.release()
    assert.equal(existsSync(lock), false)
  }
})

test('what waited for a lock in vain is done without it', async (t) => {
  const lock = someLock(t)
  await take(lock)

  assert.equal(await withLock(lock, 50, async () => 'done'), 'done')
})

async function take(lock: string, staleAfterMs = 15_000): Promise<FileLock> {
  return (await tryLock(lock, { staleAfterMs })) ?? assert.fail(`it is held: ${readFileSync(lock, 'utf8')}`)
}

/** What a holder writes, with another process or another start in it. */
async function withHolder(
  lock: string,
  { pid, start, mark }: { pid?: number | undefined; start?: number; mark?: number },
) {
  const held = await take(lock)
  const [ownPid, ownStart, machine, id] = readFileSync(lock, 'utf8').split(' ')
  await held.release()
  return [pid ?? ownPid, start ?? ownStart, machine, mark ?? id].join(' ')
}

function startHolder(t: TestContext, lock: string, way: 'in turn' | 'hold' = 'in turn') {
  const program = join(import.meta.dirname, '../testing/test-lock-process.ts')
  const child = spawn(process.execPath, [program, lock, way], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  return { child, begun: once(child.stdout, 'data') }
}

function someLock(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-client-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'lock')
}
