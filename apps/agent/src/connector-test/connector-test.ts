import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { UsageError } from '@bridgework/command-line'
import { type Checked, checkLines } from './contract-check.ts'

/** A program that prints nothing for so long is ended. */
const silentMsMax = 60_000

/**
 * Runs a program twice that prints records, and says what is wrong with them; sends nothing. The second run must give the same records: one that
 * differs each time would be sent for ever. The exit code: 0 when nothing is wrong.
 */
export async function connectorTest(command: readonly string[], print: (text: string) => void): Promise<number> {
  const [first, ...more] = command
  if (first === undefined) throw new UsageError('The command is missing. See "bridgework-agent connector-test --help".')
  const one = await runProgram(first, more)
  if (one.faults.length > 0) return report(one, print)
  const other = await runProgram(first, more)
  const differing = [...one.hashes].filter(([identity, hash]) => other.hashes.get(identity) !== hash)
  const datasets = [...new Set(differing.map(([identity]) => identity.split('/')[0]))]
  const faults = datasets.map(
    (dataset) => `${dataset}: a record differs in a second run. Keep lists in one order, and print no time of the run.`,
  )
  return report({ ...one, faults: [...other.faults, ...faults] }, print)
}

function report({ counts, faults, hashes }: Checked, print: (text: string) => void): number {
  for (const [dataset, count] of counts) print(`${dataset}: ${count} records fit the contract.`)
  for (const fault of faults) print(`WRONG   ${fault}`)
  if (faults.length === 0)
    print(hashes.size === 0 ? 'WRONG   No record was printed.' : 'Nothing is wrong. Nothing was sent.')
  return faults.length === 0 && hashes.size > 0 ? 0 : 1
}

async function runProgram(first: string, more: readonly string[]): Promise<Checked> {
  const program = spawn(first, [...more], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(program, 'close').then(
    ([code]: (number | null)[]) => code ?? -1,
    (error: unknown) => {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
      throw new UsageError(`The program ${first} cannot be started (${code}).`)
    },
  )
  const timer = setTimeout(() => program.kill(), silentMsMax)
  const lines = async function* () {
    for await (const line of createInterface({ input: program.stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
      timer.refresh()
      yield line
    }
  }
  try {
    const [checked, code] = await Promise.all([checkLines(lines()), ended])
    if (code === 0) return checked
    const what = `The program ended with exit code ${code}, so nothing that it printed would count.`
    return { ...checked, faults: [what, ...checked.faults] }
  } finally {
    clearTimeout(timer)
  }
}
