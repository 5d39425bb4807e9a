import { chownSync, lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Account } from './account.ts'
import { run } from './run.ts'

/** The longest path that a Unix socket can have, in bytes (Linux; macOS has 103). */
const socketPathMax = process.platform === 'linux' ? 107 : 103

/**
 * The folder for the server's socket: beside the cluster, or a temporary one when that path would be too long. `remove` is for after the
 * server's end. Always 0700 and the account's own.
 */
export async function openSocketDir(home: string, account: Account): Promise<{ path: string; remove: () => void }> {
  const beside = join(home, 'socket')
  if (fits(beside)) {
    // As the account, because the folder around it is the account's: root following a link there could be led astray.
    await run('mkdir', ['-p', '-m', '700', beside], account)
    return { path: beside, remove: () => {} }
  }
  const temporary = mkdtempSync(join(fits(join(tmpdir(), `${prefix}123456`)) ? tmpdir() : '/tmp', prefix))
  if ('uid' in account) chownSync(temporary, account.uid, account.gid)
  return { path: temporary, remove: () => rmSync(temporary, { recursive: true, force: true }) }
}

/** A killed server could not remove its temporary folder. */
export function removeLeftSocketDir(path: string, account: Account): void {
  const stat = basename(path).startsWith(prefix) ? lstatSync(path, { throwIfNoEntry: false }) : undefined
  const owner = 'uid' in account ? account.uid : process.getuid?.()
  if (stat?.isDirectory() && stat.uid === owner) rmSync(path, { recursive: true, force: true })
}

const prefix = 'bridgework-pg-'

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, '.s.PGSQL.5432')) <= socketPathMax
}
