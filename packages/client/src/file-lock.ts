import { randomUUID } from 'node:crypto'
import { constants, copyFile, link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
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
  const holder = await findHolder(lock)
  if (holder && !(await isDead(holder, lock))) return null

  await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
  const self = `${process.pid} ${startedMs()} ${hostname()} ${randomUUID()}`
  const fresh = `${lock}.${randomUUID()}`
  try {
    // Written before it gets the lock's name: a killed process must not leave a lock that does not say whose it is.
    await writeFile(fresh, self, { mode: 0o600, flag: 'wx' })
    const isTaken = holder ? await replace(fresh, lock, holder) : await take(fresh, lock)
    if (!isTaken) return null
  } finally {
    await rm(fresh, { force: true })
  }

  const touching = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => {}), touchEveryMs)
  touching.unref()
  return async () => {
    clearInterval(touching)
    // One that slept for long, on a closed laptop say, finds another's.
    if ((await findHolder(lock)) === self) await rm(lock, { force: true })
  }
}

async function take(fresh: string, lock: string): Promise<boolean> {
  try {
    // A file system without hard links gets a copy, whose holder may die before all of it is written: it counts as alive until it is stale.
    await link(fresh, lock).catch((error) => {
      if (isError(error, 'EEXIST')) throw error
      return copyFile(fresh, lock, constants.COPYFILE_EXCL)
    })
    return true
  } catch (error) {
    if (isError(error, 'EEXIST')) return false
    throw error
  }
}

/** Takes a dead holder's place. Under a lock of its own: of two that see it dead, the second must not remove the first one's lock. */
async function replace(fresh: string, lock: string, dead: string): Promise<boolean> {
  const release = await tryLock(`${lock}.next`)
  if (!release) return false
  try {
    if ((await findHolder(lock)) !== dead) return false
    await rename(fresh, lock)
    return true
  } finally {
    await release()
  }
}

async function isDead(holder: string, lock: string): Promise<boolean> {
  const [pid, started, host] = holder.split(' ')
  if (host === hostname()) {
    if (!isAlive(Number(pid))) return true
    // A container that starts again gives its process the number that the killed one had.
    if (Number(pid) === process.pid && Math.abs(Number(started) - startedMs()) > 1_000) return true
  }
  try {
    return Date.now() - (await stat(lock)).mtimeMs >= staleAfterMs
  } catch (error) {
    if (isError(error, 'ENOENT')) return false
    throw error
  }
}

/** When this process began, by the clock that nobody sets. All its threads say the same, within milliseconds. */
function startedMs(): number {
  return Math.round(Number(process.hrtime.bigint() / 1_000_000n) - process.uptime() * 1_000)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return isError(error, 'EPERM')
  }
}

async function findHolder(lock: string): Promise<string | null> {
  try {
    return await readFile(lock, 'utf8')
  } catch (error) {
    if (isError(error, 'ENOENT')) return null
    throw error
  }
}

function isError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
