import { readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../errors/error-code.ts'
import { DatabaseStartError } from '../start-error.ts'
import type { Command } from './postmaster.ts'
import { isPostgresOf, processesIn, programOf } from './process-table.ts'

/** What Postgres itself says of a running server, in its postmaster.pid: null when there is no such file. */
export function readPostmasterFile(data: string): { pid: number; socketDir: string } | null {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
    const pid = Number(lines[0])
    return Number.isInteger(pid) && pid > 0 ? { pid, socketDir: lines[4] ?? '' } : null
  } catch {
    return null
  }
}

/** The server that runs on this data directory now, ours or one left by a process of this program that was killed. */
export function findRunning(data: string): { pid: number; socketDir: string } | null {
  const file = readPostmasterFile(data)
  return file && isPostgresOf(file.pid, realpathSync(data)) ? file : null
}

/** Whether a running server is exactly what we would start: the same program, still on the disk, with the same arguments. */
export function runsCommand(pid: number, data: string, command: Command): boolean {
  const program = programOf(pid)
  if (program === null || program !== realpathSync(command.program)) return false
  try {
    const arguments_ = command.args.map((argument) => `"${argument}"`).join(' ')
    return readFileSync(join(data, 'postmaster.opts'), 'utf8').trimEnd() === `${command.program} ${arguments_}`
  } catch {
    return false
  }
}

/**
 * Removes what a killed server has left and what would stop the next one for good: Postgres refuses to start while the number in a stale
 * postmaster.pid, or in the lock of its socket, is any live process of the same account. Only to be called while `findRunning` finds
 * nothing. Waits for the killed server's last children to end first: postmaster.pid is how Postgres itself would find them.
 */
export async function clearStale(data: string, socketDir: string): Promise<void> {
  const until = performance.now() + 10_000
  const directory = realpathSync(data)
  while (processesIn(directory).length > 0) {
    if (performance.now() > until) {
      const pids = processesIn(directory).join(', ')
      throw new DatabaseStartError(
        `Processes of an earlier Postgres still use ${data} (${pids}). End them and start again.`,
      )
    }
    await sleep(50)
  }
  const file = readPostmasterFile(data)
  // A number that no process has is Postgres' own business: it also checks the shared memory that the file names.
  if (file && process.platform === 'linux' && isLiveNumber(file.pid))
    rmSync(join(data, 'postmaster.pid'), { force: true })
  if (process.platform !== 'linux') return
  for (const name of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock']) rmSync(join(socketDir, name), { force: true })
}

function isLiveNumber(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
