import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A lock that its holder did not touch for so long is a dead holder's. */
const staleAfterMs = 15_000
const touchEveryMs = 4_000

/** Runs `work` while it holds the lock file. A killed holder's lock is taken over. */
export async function withLock<T>(lock: string, work: () => Promise<T>): Promise<T> {
  let release = await tryLock(lock)
  while (!release) {
    await sleep(15 + Math.random() * 30)
    release = await tryLock(lock)
  }
  try {
    return await work()
  } finally {
    await release()
  }
}

/** Takes the lock file and gives what lets go of it, or null when a living process holds it. */
export async function tryLock(lock: string): Promise<(() => Promise<void>) | null> {
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
  while (!(await take(lock))) {
    if (!(await removeIfDead(lock))) return null
  }
  const touching = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => {}), touchEveryMs)
  touching.unref()
  return async () => {
    clearInterval(touching)
    await rm(lock, { force: true })
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    const handle = await open(lock, 'wx', 0o600)
    await handle.writeFile(`${process.pid} ${hostname()}`)
    await handle.close()
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** Renamed first, so that of two that see a dead holder only one removes it. Should it meet a new holder all the same, that costs one more token. */
async function removeIfDead(lock: string): Promise<boolean> {
  try {
    const [pid, host] = (await readFile(lock, 'utf8')).split(' ')
    const ageMs = Date.now() - (await stat(lock)).mtimeMs
    const isDead = host === hostname() && pid !== undefined && !isAlive(Number(pid))
    if (!isDead && ageMs < staleAfterMs) return false
    const away = `${lock}.${randomUUID()}`
    await rename(lock, away)
    await rm(away, { force: true })
    return true
  } catch (error) {
    if (isMissing(error)) return true
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
