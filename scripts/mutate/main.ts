// npm run mutate -- [--only K03,A12] [--sample n] [--seed text] [--at-once n] [--report]
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { withTestDatabase } from '../test-database.ts'
import { mutate } from './mutate.ts'
import { reportFile, reportPage } from './report.ts'
import { onlyOf, promisedRows } from './rows.ts'
import { judge, readExplained } from './survivors.ts'

const root = join(import.meta.dirname, '../..')
const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.abort(signal))

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  if (!ended.signal.aborted) console.error(error instanceof Error ? error.message : error)
  process.exitCode = ended.signal.aborted ? 130 : 2
}

/** Returns the exit code: 1 when too few faults were noticed, or one that was not has no explanation. */
async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      sample: { type: 'string', default: '6' },
      seed: { type: 'string', default: String(Date.now()) },
      'at-once': { type: 'string', default: String(availableParallelism() + 1) },
      report: { type: 'boolean', default: false },
    },
  })
  const { seed } = values
  const table = promisedRows(root)
  const rows = onlyOf(table, values.only?.toUpperCase().split(','))
  const sample = wholeNumber('sample', values.sample)
  const atOnce = wholeNumber('at-once', values['at-once'])
  const mutated = await withTestDatabase(({ folder, url, env }) => {
    ended.signal.throwIfAborted()
    const tidy = (prefix: string) => dropDatabases(url, prefix)
    return mutate({
      root,
      folder,
      env,
      rows,
      table,
      seed,
      sample,
      atOnce,
      tidy,
      tell: console.error,
      signal: ended.signal,
    })
  })
  const verdict = judge(mutated, readExplained(root))
  console.log(
    `${verdict.table}\n\nNoticed: ${(verdict.share * 100).toFixed(1)} % (seed ${seed}, ${sample} for each row)`,
  )
  if (verdict.survivors !== '') console.log(`\nSurvivors, those without an explanation first:\n${verdict.survivors}`)
  for (const each of mutated.broken) console.log(`\nFails without a fault, so it took no part: ${each}`)
  if (values.report) writeFileSync(join(root, reportFile), reportPage(verdict, { seed, sample }))
  return verdict.isKept ? 0 : 1
}

/** Of tests that were ended in their middle. */
async function dropDatabases(url: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).href })
  await client.connect()
  try {
    const { rows } = await client.query('select datname from pg_database where starts_with(datname, $1)', [prefix])
    for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`)
  } finally {
    await client.end()
  }
}

function wholeNumber(name: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new Error(`--${name} must be a whole number of at least 1.`)
}
