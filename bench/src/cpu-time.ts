import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Processor time that these processes have used so far, in milliseconds; null where the system does not tell (no /proc). */
export function cpuTimeMs(pids: readonly number[]): number | null {
  if (process.platform !== 'linux') return null
  return pids.reduce((sum, pid) => sum + ticksOf(pid, 11), 0) * msPerTick
}

/** Processor time of the processes that this one began and that have ended, in milliseconds; 0 where the system does not tell. */
export function endedCpuTimeMs(pid: number): number {
  return process.platform === 'linux' ? ticksOf(pid, 13) * msPerTick : 0
}

/** Memory that a process holds, in MB; null where the system does not tell. */
export function residentMb(pid: number): number | null {
  if (process.platform !== 'linux') return null
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kilobytes === undefined ? null : Math.round(Number(kilobytes) / 1024)
}

/** Two fields of /proc/<pid>/stat: utime and stime come 11 and 12 fields after the state, those of its ended children after them. */
function ticksOf(pid: number, first: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(fields[first]) + Number(fields[first + 1])
  } catch {
    // It ended since the list was made.
    return 0
  }
}

const msPerTick = 1000 / ticksPerSecond()

function ticksPerSecond(): number {
  try {
    return Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  } catch {
    // What every Linux of today says.
    return 100
  }
}
