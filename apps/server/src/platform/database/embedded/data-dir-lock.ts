import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../errors/error-code.ts'
import { DatabaseStartError } from '../start-error.ts'
import { isAlive } from './process-table.ts'

export type Purpose = 'server' | 'command'

export type DataDirLock = { release: () => void }

/**
 * Takes the data directory for this process, or gives null when another one has it. The lock is SQLite's on an empty file: the kernel
 * drops it when its process dies, however that dies, so it is never stale and never a guess about a process id.
 */
export function tryLockDataDir(dataDir: string, purpose: Purpose): DataDirLock | null {
  const path = join(dataDir, 'server.lock')
  const file = lockFile(path)
  if (file === null) return null
  // Only for the text that another process shows, and to tell a server from a command that will soon be done.
  writeFileSync(holderFile(dataDir), JSON.stringify({ pid: process.pid, purpose }), { mode: 0o600 })
  return {
    release() {
      if (file.isOpen) file.close()
    },
  }
}

/** Null when another process has the lock. */
function lockFile(path: string): DatabaseSync | null {
  let file: DatabaseSync | undefined
  try {
    // Ours alone: who may read it may lock it. Only when it is missing, because closing a file drops all locks that this process has on it.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
    file = new DatabaseSync(path, { timeout: 0 })
    file.exec('begin exclusive')
    return file
  } catch (error) {
    file?.close()
    if (sqliteCode(error) === sqliteBusy) return null
    const what =
      sqliteCode(error) === sqliteNotADatabase
        ? `${path} is not the lock file that Bridgework makes. Delete it`
        : `The lock file ${path} cannot be used (${codeOf(error) ?? 'unknown'}). Check its access rights`
    throw new DatabaseStartError(`${what} and start again.`, { cause: error })
  }
}

/** As `tryLockDataDir` for a server: waits for a command to finish, and refuses beside another server in one line. */
export async function lockDataDir(dataDir: string, waitMs = 15_000): Promise<DataDirLock> {
  const until = performance.now() + waitMs
  for (;;) {
    const lock = tryLockDataDir(dataDir, 'server')
    if (lock) return lock
    const holder = readHolder(dataDir)
    const isServer = holder?.purpose === 'server' && isAlive(holder.pid)
    if (isServer || performance.now() > until) {
      const who = holder ? `Another Bridgework ${holder.purpose} (process ${holder.pid})` : 'Another Bridgework'
      throw new DatabaseStartError(
        `${who} is using the data directory ${dataDir}. Stop it, or set BRIDGEWORK_DATA_DIR to another directory.`,
      )
    }
    await sleep(200)
  }
}

function holderFile(dataDir: string): string {
  return join(dataDir, 'server.lock.json')
}

function readHolder(dataDir: string): { pid: number; purpose: Purpose } | null {
  try {
    return JSON.parse(readFileSync(holderFile(dataDir), 'utf8'))
  } catch {
    return null
  }
}

function sqliteCode(error: unknown): unknown {
  return error instanceof Error && 'errcode' in error ? error.errcode : undefined
}

const sqliteBusy = 5
const sqliteNotADatabase = 26
