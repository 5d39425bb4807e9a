import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/**
 * What the kernel says of processes, on Linux. Elsewhere there is no /proc: `isAlive` then asks with signal 0, `workingDirectory` knows
 * nothing and gives null, and Postgres' own checks are all there is.
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
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

export function workingDirectory(pid: number): string | null {
  return readLink(`/proc/${pid}/cwd`)
}

/** The program that runs; null when it is gone from the disk, as after an update of the package. */
export function programOf(pid: number): string | null {
  const path = readLink(`/proc/${pid}/exe`)
  return path === null || path.endsWith(' (deleted)') ? null : path
}

/** Processes whose working directory this is: a Postgres server and its children stand in their data directory. */
export function processesIn(directory: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => workingDirectory(pid) === directory && isAlive(pid))
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

function readLink(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
