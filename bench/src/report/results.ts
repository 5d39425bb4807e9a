import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import type { BenchOptions } from '../command-line.ts'
import type { Row, WorkName } from '../works/row.ts'

/** Under which circumstances something was measured. */
export type Run = {
  at: string
  commit: string
  cores: number
  processor: string
  memoryGb: number
  /** Of the machine, at the end of the work: what others did counts too. */
  load: number
  node: string
  client: string
  rounds: number
  seconds: number
  isQuick: boolean
  /** The commit of the other checkout. */
  against: string | null
}

/** What was measured, work by work: a run of some works leaves the others as they were. */
export type Results = { works: Partial<Record<WorkName, { run: Run; rows: Row[] }>> }

export const repository = join(import.meta.dirname, '../../..')
const file = join(repository, 'bench/results.json')

/** The results that are committed; none at first. */
export function readResults(): Results {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : { works: {} }
}

/** One row in each line, so that a later run shows in a diff. */
export function writeResults({ works }: Results): void {
  const lines = Object.entries(works).map(([name, { run, rows }]) => {
    const rowLines = rows.map((row) => `      ${JSON.stringify(row)}`).join(',\n')
    return `    ${JSON.stringify(name)}: { "run": ${JSON.stringify(run)}, "rows": [\n${rowLines}\n    ] }`
  })
  writeFileSync(file, `{\n  "works": {\n${lines.join(',\n')}\n  }\n}\n`)
}

/** The newer ones, work by work. */
export function mergeResults(older: Results, newer: Results): Results {
  return { works: { ...older.works, ...newer.works } }
}

/** What to know of this run. */
export function describeRun(options: BenchOptions, client: string): Run {
  const [first] = cpus()
  const commitOf = (folder: string) =>
    execFileSync('git', ['-C', folder, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  return {
    at: new Date().toISOString(),
    commit: commitOf(repository),
    cores: cpus().length,
    processor: first?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    node: process.version,
    client,
    rounds: options.rounds,
    seconds: options.seconds,
    isQuick: options.isQuick,
    against: options.against === null ? null : commitOf(options.against),
  }
}
