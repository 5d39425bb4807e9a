import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { homedir, hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseObject } from './api-error.ts'
import type { StoredToken, TokenStore } from './token-store.ts'

/** A lock that its holder did not touch for so long is a dead holder's. */
const staleAfterMs = 15_000
const touchEveryMs = 4_000

/**
 * Keeps tokens in a file that only its owner may read (0600), so that short-lived processes share one: the service gives 10 tokens a minute
 * to an address. Without a path: `~/.config/bridgework/tokens.json`. A file that others may read is not trusted, and is written anew.
 */
export function fileTokenStore(file: string = join(homedir(), '.config', 'bridgework', 'tokens.json')): TokenStore {
  return {
    async read(key) {
      return (await readTokens(file))[key] ?? null
    },
    async write(key, token) {
      const now = Date.now()
      const kept = Object.entries(await readTokens(file)).filter(([, { expiresAtMs }]) => expiresAtMs > now)
      await writePrivate(file, JSON.stringify({ version: 1, tokens: { ...Object.fromEntries(kept), [key]: token } }))
    },
    alone: (_key, work) => withLock(`${file}.lock`, work),
  }
}

/** Writes a file that only its owner may read, whole or not at all. */
export async function writePrivate(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const fresh = `${file}.${process.pid}.${randomUUID()}`
  try {
    await writeFile(fresh, text, { mode: 0o600, flag: 'wx' })
    await rename(fresh, file)
  } finally {
    await rm(fresh, { force: true })
  }
}

async function readTokens(file: string): Promise<Record<string, StoredToken>> {
  let text: string
  try {
    // Windows has no such modes; its profile folders are private already.
    if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0) return {}
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return {}
    throw error
  }
  const tokens = parseObject(text)?.tokens
  if (typeof tokens !== 'object' || tokens === null) return {}
  return Object.fromEntries(Object.entries(tokens).filter(([, token]) => isStoredToken(token)))
}

function isStoredToken(value: unknown): value is StoredToken {
  if (typeof value !== 'object' || value === null) return false
  return (
    'token' in value &&
    typeof value.token === 'string' &&
    'receivedAtMs' in value &&
    typeof value.receivedAtMs === 'number' &&
    'expiresAtMs' in value &&
    typeof value.expiresAtMs === 'number'
  )
}

/** Runs `work` while it holds the lock file. A killed holder's lock is taken over. */
async function withLock<T>(lock: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
  while (!(await take(lock))) {
    if (!(await removeIfDead(lock))) await sleep(15 + Math.random() * 30)
  }
  const touching = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => {}), touchEveryMs)
  touching.unref()
  try {
    return await work()
  } finally {
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
