import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { testsByCode } from '../row-codes.ts'
import type { Promised } from './mutate.ts'

/** Rows of docs/security.md that rest on the same code. `places` are empty where no fault can be planted, and `why` says so. */
type Row = { codes: string[]; places: string[]; tests: string[]; why: string }

/** A fault would wait for these for a minute or more, in browsers, whole clusters and real practices, each time that nothing else notices it. */
const tooLong =
  /^(bench|apps\/portal\/browser)\/|\/([\w-]*(bodies|crash|drill|kills?|living|main|memory|package|practice[\w-]*|rotation|throughput|volume|walk|zones)|newcomer|payment-plans)\.test\.ts$/

/** The table of rows.txt, whose beginning explains its form. */
export function readRows(): Row[] {
  const rows: Row[] = []
  for (const line of readFileSync(join(import.meta.dirname, 'rows.txt'), 'utf8').split('\n')) {
    const [, mark, text = ''] = /^( {2}[ +-] )?(.*)$/.exec(line) ?? []
    const row = rows.at(-1)
    if (text === '' || text.startsWith('#')) continue
    else if (mark === undefined) rows.push({ codes: text.split(' '), places: [], tests: [], why: '' })
    else if (mark === '  - ' && row) row.why = text
    else row?.[mark === '  + ' ? 'tests' : 'places'].push(...text.split(' ').map(pathOf))
  }
  return rows
}

/**
 * The rows that rest on code. A row's tests are those that carry one of its codes and those beside its files, but for long ones, and those that the
 * table names. Throws when a test is unknown.
 */
export function promisedRows(root: string): Promised[] {
  const carriedBy = testsByCode()
  const rows = readRows().filter(({ places }) => places.length > 0)
  return rows.map((row) => {
    const places = row.places.map((place) => {
      const [file = '', names] = place.split('#')
      return { file, only: names?.split(',') ?? [] }
    })
    const named = row.tests.map((pattern) => ({ pattern, files: globSync(pattern, { cwd: root }) }))
    const none = named.find(({ files }) => files.length === 0)
    if (none) throw new Error(`scripts/mutate/rows.txt names tests that do not exist: ${none.pattern}`)
    const folders = new Set(places.map(({ file }) => dirname(file)))
    const found = [
      ...row.codes.flatMap((each) => carriedBy.get(each) ?? []),
      ...[...folders].flatMap((folder) => globSync(`${folder}/*.test.ts`, { cwd: root })),
    ]
    const tests = [...found.filter((file) => !tooLong.test(file)), ...named.flatMap(({ files }) => files)]
    return { codes: row.codes, places, tests: [...new Set(tests)].toSorted() }
  })
}

/** The rows with one of these codes; all when none is given. Throws when one is unknown. */
export function onlyOf(table: readonly Promised[], only: readonly string[] | undefined): readonly Promised[] {
  const unknown = only?.filter((code) => !table.some(({ codes }) => codes.includes(code))) ?? []
  if (unknown.length > 0) throw new Error(`No code in scripts/mutate/rows.txt belongs to ${unknown.join(', ')}.`)
  return only ? table.filter(({ codes }) => codes.some((code) => only.includes(code))) : table
}

function pathOf(path: string): string {
  return /^(apps|packages)\//.test(path) ? path : `apps/server/src/${path}`
}
