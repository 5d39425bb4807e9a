import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../testing/test-database.ts'
import { type BinaryValue, packRows } from './binary-rows.ts'
import { copyIn } from './copy.ts'

test('Postgres stores the rows of a binary COPY as they were meant', async (t) => {
  const { ownerPool } = await createTestDatabase(t)
  const client = await ownerPool.connect()
  t.after(() => client.release())
  await client.query(
    'create temporary table stored (place bigint, note text, line bigint, text text, yes boolean, bytes bytea, at timestamptz)',
  )
  const rows: BinaryValue[][] = [
    [1n, 'Zoë 🦷 "quoted" \\. \t', true, Buffer.from([0, 255, 10]), new Date('2026-11-23T06:08:02.419Z')],
    [2n, '', false, Buffer.alloc(0), new Date('1969-12-31T23:59:59.001Z')],
    [3n, null, null, null, null],
    [-(2n ** 63n), 'x'.repeat(100_000), true, Buffer.alloc(100_000, 7), new Date(0)],
  ]
  // The next rows may be packed while the first ones are sent.
  const common = [7n, 'Zoë']
  const [packed, none, bare] = [
    packRows(common, rows),
    packRows(common, []),
    packRows([], [[...common, ...(rows[0] ?? [])]]),
  ]
  await copyIn(client, 'copy stored from stdin (format binary)', packed)
  await copyIn(client, 'copy stored from stdin (format binary)', none)
  await copyIn(client, 'copy stored from stdin (format binary)', bare)

  const { rows: stored } = await client.query({ text: 'select * from stored order by ctid', rowMode: 'array' })
  const expected = rows.map(([line, ...rest]) => ['7', 'Zoë', String(line), ...rest])
  assert.deepEqual(stored, [...expected, expected[0]])
})
