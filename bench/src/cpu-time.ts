import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Processor time of some processes so far, in milliseconds; null where the system does not tell (no /proc). */
export type CpuClock = () => number | null

/** The processes of one Postgres. */
export type PostgresProcesses = { postmasterPid: () => number; postgresPids: () => number[] }

/**
 * A clock of the processor time of these processes and of all of one Postgres. A backend that ends hands its time to the postmaster, which
 * counts it from then on, so no time is lost and the clock never runs back.
 */
export function cpuClock(pids: () => readonly number[], postgres: PostgresProcesses | null): CpuClock {
  let last = 0
  return () => {
    if (process.platform !== 'linux') return null
    const read = () => sum([...pids(), ...(postgres?.postgresPids() ?? [])].map((pid) => ticksOf(pid, 11)))
    const ended = () => (postgres === null ? 0 : ticksOf(postgres.postmasterPid(), 13))
    // Read again when a backend ended meanwhile: it would be counted twice, or not at all.
    for (let tries = 0; tries < 10; tries += 1) {
      const before = ended()
      const living = read()
      if (ended() !== before) continue
      last = Math.max(last, (before + living) * msPerTick)
      break
    }
    return last
  }
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

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
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
