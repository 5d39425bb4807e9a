import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { addDisclosedDays } from './accounting.ts'

const highest = 2n ** 63n - 1n

test('F24: disclosures of any ids are added to their days, up to the highest that a range can hold', async (t) => {
  const { pool } = await createTestDatabase(t)
  const addAll = async (ids: { afterId?: bigint; lastId?: bigint; recordIds?: bigint[] }) => {
    await pool.query(
      `insert into disclosure (company_id, key_pair_id, location_id, dataset, filters, records, after_id, last_id, record_ids, request_id, ip)
       values ($1, $1, 7, 'patients', '{}', 1, $2, $3, $4, 'r', '203.0.113.9')`,
      [randomUUID(), ids.afterId, ids.lastId, ids.recordIds],
    )
    const { rows } = await pool.query<{ id: string }>('select max(id) as id from disclosure')
    await addDisclosedDays(pool, String(BigInt(rows[0]?.id ?? 0) - 1n), rows[0]?.id ?? '')
    const found = await pool.query<{ ids: string }>('delete from disclosed_day returning ids::text as ids')
    return found.rows[0]?.ids
  }
  // A range ends before its upper bound.
  assert.equal(await addAll({ afterId: 4n, lastId: 9n }), '{[5,10)}')
  assert.equal(await addAll({ afterId: 9n, lastId: 4n }), '{[5,10)}')
  assert.equal(await addAll({ afterId: 0n, lastId: highest }), `{[1,${highest})}`)
  assert.equal(await addAll({ afterId: highest, lastId: highest }), '{}')
  assert.equal(await addAll({ recordIds: [3n, 4n, 9n] }), '{[3,5),[9,10)}')
  assert.equal(
    await addAll({ recordIds: [highest - 2n, highest - 1n, highest] }),
    `{[${highest - 2n},${highest - 1n})}`,
  )
})
