import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { codeOf } from '../../errors/error-code.ts'

/**
 * What the kernel says of processes, on Linux. Elsewhere there is no /proc: `isAlive` then asks with signal 0, `isPostgresOf` asks ps, the
 * lists are empty, and Postgres' own checks do the rest.
 */
export function isAlive(pid: number): boolean {
  if (process.platform === 'linux') {
    const state = processState(pid)
    // A zombie answers signal 0 but runs nothing: without an init process that reaps, it would look alive for ever.
    return state !== null && state !== 'Z' && state !== 'X'
  }
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/**
 * Whether this process is the Postgres server of a data directory. Its number alone proves nothing: after the restart of a container it
 * often is another program's, and that one must never get our signals. What cannot be looked at is not ours.
 */
export function isPostgresOf(pid: number, data: string): boolean {
  if (!isAlive(pid)) return false
  if (process.platform === 'linux') return workingDirectory(pid) === data
  const answer = spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
  return answer.status === 0 && answer.stdout.includes(` -D ${data} `)
}

/** The program that runs; null when it is gone from the disk, as after an update of the package. */
export function programOf(pid: number): string | null {
  const path = readLink(`/proc/${pid}/exe`)
  return path === null || path.endsWith(' (deleted)') ? null : path
}

/** Processes whose working directory this is: a Postgres server and its children stand in their data directory. */
export function processesIn(directory: string): number[] {
  if (process.platform !== 'linux') return []
  return processIds().filter((pid) => workingDirectory(pid) === directory && isAlive(pid))
}

/** Processes that were given an argument beginning with this. */
export function processesGiven(prefix: string): number[] {
  if (process.platform !== 'linux') return []
  return processIds().filter((pid) => argumentsOf(pid).some((argument) => argument.startsWith(prefix)) && isAlive(pid))
}

/** Ends a process at once. One that has ended by itself in between is no error. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

function processIds(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

function argumentsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

function processState(pid: number): string | null {
  try {
    // The second field is the program's name in parentheses and may hold anything: the state follows the last one.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2)[0] ?? null
  } catch {
    return null
  }
}

function workingDirectory(pid: number): string | null {
  return readLink(`/proc/${pid}/cwd`)
}

function readLink(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
