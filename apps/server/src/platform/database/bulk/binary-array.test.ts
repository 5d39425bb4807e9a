import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../testing/test-database.ts'
import { bigintArray, bytesArray, keyArray, textArray } from './binary-array.ts'

test('Postgres reads binary arrays as they were meant: any text, any whole number, null and nothing', async (t) => {
  const { pool } = await createTestDatabase(t)
  const read = async (texts: string[], numbers: (string | number | null)[]) => {
    const { rows } = await pool.query('select $1::text[] as texts, $2::bigint[] as numbers', [
      textArray(texts),
      bigintArray(numbers),
    ])
    return [rows[0].texts, rows[0].numbers]
  }

  const texts = ['', 'plain', '"quoted" {braces}, \\ and NULL', 'NULL', 'Zoë 🦷', 'x'.repeat(100_000)]
  const numbers = ['9223372036854775807', '-9223372036854775808', null, 0, Number.MAX_SAFE_INTEGER, null]
  const asText = numbers.map((value) => value?.toString() ?? null)
  assert.deepEqual(await read(texts, numbers), [texts, asText])
  assert.deepEqual(await read([], []), [[], []])

  for (const keys of [['1', '', 'p 2'], ['1', 'Zoë', '🦷'], ['x'.repeat(300)], []])
    assert.deepEqual(keyArray(keys), textArray(keys))

  const values = [Buffer.from([0, 255, 10]), Buffer.alloc(0), Buffer.alloc(100_000, 7)]
  const { rows } = await pool.query('select $1::bytea[] as bytes', [bytesArray(values)])
  assert.deepEqual(rows[0].bytes, values)
})
