import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { createTestDatabase } from './testing/test-database.ts'

const file = join(import.meta.dirname, 'schema.sql')

test('the migrations, replayed from nothing, make the schema that schema.sql shows', async (t) => {
  const { ownerPool } = await createTestDatabase(t)
  const schema = await describe(ownerPool)
  if (process.env.BRIDGEWORK_TEST_UPDATE === '1') writeFileSync(file, schema)
  assert.equal(
    schema,
    readFileSync(file, 'utf8'),
    'after a new migration: BRIDGEWORK_TEST_UPDATE=1 npm test -- apps/server/src/platform/database/schema.test.ts',
  )
})

type Table = {
  oid: number
  schema: string
  name: string
  unlogged: boolean
  options: string[] | null
  key: string | null
}

/** The whole schema as SQL to be read, from the catalog: in order of name, so that it says the same however it came about. */
async function describe(pool: Pool): Promise<string> {
  const { rows: tables } = await pool.query<Table>(
    `select oid, relnamespace::regnamespace::text as schema, relname as name, relpersistence = 'u' as unlogged, reloptions as options, pg_get_partkeydef(oid) as key
       from pg_class
      where relnamespace::regnamespace::text = any(current_schemas(false)) and relkind in ('r', 'p')
      order by relname`,
  )
  const parts = ['-- Made from the migrations by schema.test.ts, to be read: nothing runs it.\n']
  for (const table of tables) {
    const columns = await lines(
      pool,
      `select format('%s %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
                     case when a.attnotnull then ' not null' else '' end,
                     case when a.attidentity <> '' then ' generated always as identity'
                          when a.attgenerated = 's'
                          then format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
                          else coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') end) as line
         from pg_attribute a
         left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped
        order by a.attnum`,
      table.oid,
    )
    const constraints = await lines(
      pool,
      `select format('constraint %s %s', conname, pg_get_constraintdef(oid)) as line
         from pg_constraint
        where conrelid = $1 and contype <> 'n'
        order by conname`,
      table.oid,
    )
    const indexes = await lines(
      pool,
      `select pg_get_indexdef(indexrelid) || ';' as line
         from pg_index
        where indrelid = $1 and not exists (select 1 from pg_constraint where conindid = indexrelid)
        order by 1`,
      table.oid,
    )
    const body = [...columns, ...constraints].map((line) => `  ${line}`).join(',\n')
    const options = table.options ? ` with (${table.options.join(', ')})` : ''
    const partitions = table.key ? ` partition by ${table.key}` : ''
    parts.push(
      `create ${table.unlogged ? 'unlogged ' : ''}table ${table.schema}.${table.name} (\n${body}\n)${partitions}${options};`,
      ...indexes,
      '',
    )
  }
  const sequences = await lines(
    pool,
    `select format('create sequence %s.%s cache %s;', c.relnamespace::regnamespace, c.relname, s.seqcache) as line
       from pg_sequence s join pg_class c on c.oid = s.seqrelid
      where c.relnamespace::regnamespace::text = any(current_schemas(false)) and not exists (select 1 from pg_depend where objid = c.oid and deptype = 'i')
      order by c.relname`,
  )
  const functions = await lines(
    pool,
    `select pg_get_functiondef(oid) || ';' as line from pg_proc where pronamespace::regnamespace::text = any(current_schemas(false)) order by proname`,
  )
  return `${[...parts, ...sequences, '', ...functions].join('\n')}\n`
}

async function lines(pool: Pool, query: string, ...values: unknown[]): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(query, values)
  return rows.map((row) => row.line)
}

/** On a cluster these are tables of one node: written at every request, or small. */
const onOneNode = ['attribution_script', 'disclosure', 'sync_slot']

test('every key of a table that grows with practices begins with the location, which a cluster distributes it by', async (t) => {
  const { ownerPool } = await createTestDatabase(t)
  const { rows } = await ownerPool.query<{ name: string; first: string }>(
    `select c.relname as name, first.attname as first
       from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'location_id' and a.attnotnull
       join pg_index i on i.indrelid = c.oid and i.indisunique
       join pg_attribute first on first.attrelid = c.oid and first.attnum = i.indkey[0]
      where c.relnamespace::regnamespace::text = any(current_schemas(false))
      order by 1`,
  )
  assert.ok(rows.some(({ name }) => name === 'record'))
  const others = rows.filter(({ name, first }) => first !== 'location_id' && !onOneNode.includes(name))
  assert.deepEqual(others, [])
})
