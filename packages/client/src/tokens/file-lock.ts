import { randomUUID } from 'node:crypto'
import {
  constants,
  copyFile,
  link,
  mkdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const touchEveryMs = 4_000
const lookEveryMs = 40

type LockOptions = {
  staleAfterMs?: number
  /** Ends the watching of a holder. */
  signal?: AbortSignal | undefined
}

export type FileLock = {
  /** False when another took it over from this process, which had slept for long. */
  isHeld: () => Promise<boolean>
  release: () => Promise<void>
}

/** Runs `work` while it holds the lock file; without it, when it cannot be had in `waitMaxMs`, or not be made at all. */
export async function withLock<T>(
  lock: string,
  waitMaxMs: number,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const held = await waitForLock(lock, waitMaxMs, signal).catch(() => null)
  try {
    signal?.throwIfAborted()
    return await work()
  } finally {
    await held?.release()
  }
}

async function waitForLock(lock: string, waitMaxMs: number, signal?: AbortSignal): Promise<FileLock | null> {
  const beganAt = performance.now()
  for (;;) {
    const held = await tryLock(lock, { signal })
    if (held || performance.now() - beganAt >= waitMaxMs) return held
    await sleep(lookEveryMs * (0.5 + Math.random()), undefined, signal && { signal })
  }
}

/**
 * Takes the lock file, or gives null when a living process holds it. A dead one's is taken over: at once when it was a process of this machine, and
 * when it was another's, or the file does not say whose, after it was left untouched for `staleAfterMs` while we looked.
 */
export async function tryLock(
  lock: string,
  { staleAfterMs = 15_000, signal }: LockOptions = {},
): Promise<FileLock | null> {
  const found = await look(lock)
  if (found && !(await isDead(lock, found, staleAfterMs, signal))) return null

  await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
  const self = [process.pid, await startOf(process.pid), await machineOf(), randomUUID()].join(' ')
  const fresh = `${lock}.${randomUUID()}`
  try {
    // Written before it gets the lock's name: a killed process must not leave a lock that does not say whose it is.
    await writeFile(fresh, self, { mode: 0o600, flag: 'wx', flush: true })
    const isTaken = found ? await replace(fresh, lock, found.holder, staleAfterMs) : await take(fresh, lock)
    if (!isTaken) return null
  } finally {
    await rm(fresh, { force: true })
  }

  const isHeld = async () => (await look(lock))?.holder === self
  const touch = async () => {
    if (await isHeld()) await utimes(lock, new Date(), new Date())
  }
  const touching = setInterval(() => void touch().catch(() => {}), touchEveryMs)
  touching.unref()
  return {
    isHeld,
    async release() {
      clearInterval(touching)
      if (await isHeld()) await rm(lock, { force: true })
    },
  }
}

async function take(fresh: string, lock: string): Promise<boolean> {
  try {
    // A file system without hard links gets a copy, whose maker may die before all of it is written.
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

/** Replaces a dead holder. Under a lock of its own: of two that see it dead, the second must not remove the first one's lock. */
async function replace(fresh: string, lock: string, dead: string, staleAfterMs: number): Promise<boolean> {
  const turn = await tryLock(`${lock}.next`, { staleAfterMs })
  if (!turn) return false
  try {
    if ((await look(lock))?.holder !== dead) return false
    await rename(fresh, lock)
    return true
  } finally {
    await turn.release()
  }
}

type Found = { holder: string; touchedMs: number }

async function look(lock: string): Promise<Found | null> {
  try {
    return { holder: await readFile(lock, 'utf8'), touchedMs: (await stat(lock)).mtimeMs }
  } catch (error) {
    if (isError(error, 'ENOENT')) return null
    throw error
  }
}

async function isDead(lock: string, found: Found, staleAfterMs: number, signal?: AbortSignal): Promise<boolean> {
  const [pid, start, machine] = found.holder.split(' ')
  if (machine === (await machineOf())) return !(await isRunning(Number(pid), String(start)))
  // Watched, not reckoned from its time: clocks of two machines differ, and one machine's may be set.
  const beganAt = performance.now()
  while (performance.now() - beganAt < staleAfterMs) {
    await sleep(lookEveryMs, undefined, signal && { signal })
    const now = await look(lock)
    if (now?.holder !== found.holder || now.touchedMs !== found.touchedMs) return false
  }
  return true
}

/** Where a process number means one process: two containers may share a host's name, and each has a process 1. */
async function machineOf(): Promise<string> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '-')
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '-')
  return [hostname(), boot.trim(), namespace].join('/')
}

async function isRunning(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (!isError(error, 'EPERM')) return false
  }
  const now = await startOf(pid)
  return now === unknown || now === start
}

const unknown = '-'

/** When the process began, so that one which has a dead one's number is not taken for it. Linux says it in ticks since the machine began. */
async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // proc_pid_stat(5): the 22nd value; the second one, a name in parentheses, may hold spaces.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? unknown
}

function isError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
