import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseObject } from '../api-error.ts'
import { withLock } from './file-lock.ts'
import type { StoredToken, TokenStore } from './token-store.ts'

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
    // Should a process that was stopped hold it, going without costs one more token.
    alone: (_key, work, signal) => withLock(`${file}.lock`, 60_000, work, signal),
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

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
