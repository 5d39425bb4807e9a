import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { findNews } from './news.ts'

test('a look at what changed reads what changed, and not what there is: 10,000 locations with seven datasets each', async (t) => {
  const { ownerPool } = await createTestDatabase(t)
  const company = '8c1f6f0e-5b1c-4a39-9a80-6d6c2b0f7d51' as CompanyId
  await ownerPool.query(
    `insert into organization (id, name) values (1, 'Practice');
     insert into location (id, organization_id, source_id, name, updated_at)
     select l, 1, l, 'Location', now() - interval '1 day' from generate_series(1, 10000) l;
     insert into dataset_state (location_id, dataset, first_stamp, last_stamp, rendering)
     select l, 'd' || d, 1, l * 7 + d, 1 from generate_series(1, 10000) l, generate_series(1, 7) d;
     insert into company (id, name, name_key) values ('${company}', 'Vendor', 'vendor');
     insert into dataset_grant (location_id, company_id, dataset, granted_at)
     select location_id, '${company}', dataset, now() - interval '1 day' from dataset_state;
     insert into access_grant (id, company_id, organization_id, location_id, dataset, granted_at, granted_by)
     select gen_random_uuid(), '${company}', 1, l, 'd' || d, now() - interval '1 day', 'test'
       from generate_series(1, 10000) l, generate_series(1, 7) d`,
  )
  await ownerPool.query('vacuum analyze')
  const client = await ownerPool.connect()
  t.after(() => client.release())
  const readSoFar = async () => {
    await client.query('select pg_stat_force_next_flush()')
    const { rows } = await client.query<{ read: string }>(
      `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as read
         from pg_stat_user_tables
        where relname in ('dataset_state', 'dataset_grant', 'location', 'access_grant')`,
    )
    return Number(rows[0]?.read)
  }
  const since = (Date.now() - 1_000) * 1000
  const look = () => findNews(client, { companyIds: [company], since, restored: 0 })
  const before = await readSoFar()
  // More than PostgreSQL plans for their own values.
  for (let round = 0; round < 12; round += 1) assert.equal((await look()).size, 0)
  assert.ok((await readSoFar()) - before < 100, 'nothing changed, so next to nothing is read')

  await client.query(`update dataset_state set last_stamp = $1 where location_id between 1 and 20 and dataset = 'd1'`, [
    since + 5,
  ])
  assert.deepEqual([...(await look())], [[company, since + 5]])
})
