import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { datasetNames } from '../../dataset-resource.ts'
import { tableOf, viewNames } from '../../stores/layout.ts'
import type { ColumnKind } from '../../stores/table.ts'
import { someTarget } from '../../sync/testing/test-mirror.ts'
import { openMirror, type Select } from '../../sync/testing/test-typed-rows.ts'
import { canonical } from '../../sync/verify.ts'
import { aRecord } from '../../testing/test-client.ts'
import { command, someCommand, someFolder } from '../testing/test-command.ts'

test('CSV, Parquet, SQLite and PostgreSQL have the same columns in the same order, and the same values', async (t) => {
  const { env, location } = await someCommand(t)
  for (const name of datasetNames) await location.upload(name, { r1: aRecord(name), r2: aRecord(name), gone: null })
  await location.upload('patients', {
    p1: aRecord('patients', { first_name: 'a "b", c\r\nd', last_name: '', middle_name: null }),
  })
  await location.upload('treatments', { t1: aRecord('treatments', { patient_source_id: 'p1', teeth: ['3', '14'] }) })
  await location.upload('appointments', {
    a1: aRecord('appointments', { patient_source_id: 'p1', treatment_source_ids: ['t1'] }),
  })
  await location.upload('ledger_transactions', {
    l1: aRecord('ledger_transactions', {
      patient_source_id: 'p1',
      allocations: [{ treatment_source_id: 't1', amount: '0.10' }],
    }),
  })
  const folder = someFolder(t)
  const [sqlite, postgres] = await Promise.all(
    (['sqlite', 'postgres'] as const).map(async (kind) => {
      const target = await someTarget(t, kind)
      const { code, err } = await command(['mirror', '--to', kind === 'sqlite' ? `sqlite:${target}` : target], env)
      assert.equal(code, 0, err)
      const mirror = await openMirror(kind, target)
      t.after(mirror.close)
      return mirror
    }),
  )
  assert.ok(sqlite && postgres)

  for (const dataset of datasetNames) {
    const [csv, parquet] = [join(folder, `${dataset}.csv`), join(folder, `${dataset}.parquet`)]
    for (const file of [csv, parquet]) {
      const { code, err } = await command(['pull', dataset, '--output', file], env)
      assert.equal(code, 0, err)
    }
    const kinds = new Map<string, ColumnKind>(tableOf(dataset).columns.map(({ name, kind }) => [name, kind]))
    const spelt = (rows: readonly object[]) =>
      rows.map((row) =>
        Object.entries(row).map(([name, value]) => [name, plain(kinds.get(name) ?? 'id', value)] as const),
      )
    const expected = spelt(await postgres.select(`select * from ${dataset} order by id`))
    assert.ok(expected.length >= 2, dataset)
    const ofSqlite = spelt(await sqlite.select(`select * from ${dataset} order by id`))
    // SQLite has no decimal type, so it alone has the whole cents as well.
    const alsoCents = (name: string) => kinds.get(name.replace(/_cents$/, '')) === 'decimal' && name.endsWith('_cents')
    assert.deepEqual(
      ofSqlite.map((row) => row.filter(([name]) => !alsoCents(name))),
      expected,
      `SQLite: ${dataset}`,
    )
    assert.deepEqual(spelt(csvRows(readFileSync(csv, 'utf8'))), expected, `CSV: ${dataset}`)
    const ofParquet = await parquetReadObjects({ file: await asyncBufferFromFile(parquet) })
    assert.deepEqual(spelt(ofParquet), expected, `Parquet: ${dataset}`)
  }

  for (const view of viewNames) {
    const named = await columnsIn(sqlite.select, `pragma_table_info('${view}') where name not like '%_cents'`)
    const others = await columnsIn(postgres.select, `pg_attribute where attrelid = '${view}'::regclass order by attnum`)
    assert.ok(others.length > 0, view)
    assert.deepEqual(named, others, view)
  }

  const few = join(folder, 'few.csv')
  assert.equal((await command(['pull', 'patients', '--fields', 'balance,last_name', '--output', few], env)).code, 0)
  assert.match(readFileSync(few, 'utf8'), /^location_id,id,last_name,balance_\w+,balance_\w+[,\r]/)
})

async function columnsIn(select: Select, from: string): Promise<unknown[]> {
  const name = from.startsWith('pragma') ? 'name' : 'attname'
  return (await select(`select ${name} as name from ${from}`)).map((row) => row.name)
}

/** The rows of RFC 4180, as objects: an empty field is null, and `""` an empty text. */
function csvRows(text: string): Record<string, string | null>[] {
  const rows: (string | null)[][] = [[]]
  for (const [, quoted, bare = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? (bare || null))
    if (end !== ',') rows.push([])
  }
  const [names = [], ...lines] = rows.slice(0, -1)
  return lines.map((line) => Object.fromEntries(names.map((name, index) => [name, line[index] ?? null])))
}

/** One spelling of a value: files and databases each have their own types. */
function plain(kind: ColumnKind, value: unknown): unknown {
  if (value === null || value === undefined) return null
  const isObject = typeof value === 'object' && !(value instanceof Date)
  const text = isObject ? JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part)) : value
  if (kind === 'decimal') return Number(text).toFixed(2)
  if (kind === 'integer' || kind === 'number') return Number(text)
  if (kind === 'boolean') return ['true', 't', '1'].includes(String(text))
  if (kind === 'date') return value instanceof Date ? value.toISOString().slice(0, 10) : text
  if (kind === 'instant') return new Date(value instanceof Date ? value : String(text)).toISOString()
  if (kind === 'wall_time')
    return new Date(value instanceof Date ? value : `${String(text).replace(' ', 'T')}Z`).toJSON()
  return kind === 'json' ? canonical(JSON.parse(String(text))) : String(text)
}
