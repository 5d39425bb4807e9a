import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const isLinux = process.platform === 'linux'

/** Every process that runs: its parent and when it began, by its id. */
export function listProcesses() {
  if (!isLinux) return fromPs()
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return processesOf(ids.map(Number))
}

/** Of what began after the id `before` that which still runs, and the last id that was given: for little work, and on Linux alone. */
export function listNewProcesses(before) {
  // proc_loadavg(5): the last value is the id of the process or thread that began last.
  const newest = isLinux ? Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1)) : before
  const count = Math.min(Math.max(newest - before, 0), 1_000)
  const ids = Array.from({ length: count }, (_, index) => newest - count + 1 + index)
  return { newest, processes: processesOf(ids.filter((id) => !isThread(id))) }
}

function processesOf(ids) {
  const processes = new Map()
  for (const id of ids) {
    const text = read(`/proc/${id}/stat`)
    // proc_pid_stat(5): the second field is a name in parentheses and may hold anything. Of those behind it, the 1st, 2nd and 20th are used.
    const [state, parent, ...others] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    // A zombie runs nothing.
    if (text !== '' && state !== 'Z' && state !== 'X') processes.set(id, { parent: Number(parent), began: others[17] })
  }
  return processes
}

function isThread(id) {
  return Number(/^Tgid:\s*(\d+)/m.exec(read(`/proc/${id}/status`))?.[1]) !== id
}

/** Empty where the process has ended. */
function read(file) {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

function fromPs() {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,lstart='], { encoding: 'utf8' })
  return new Map(
    text
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , state]) => state !== undefined && !state.startsWith('Z'))
      .map(([id, parent, , ...began]) => [Number(id), { parent: Number(parent), began: began.join(' ') }]),
  )
}
