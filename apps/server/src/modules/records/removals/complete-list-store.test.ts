import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverRole } from '../../../platform/database/embedded/cluster.ts'
import { migrate } from '../../../platform/database/migrate.ts'
import { createTestDatabase } from '../../../platform/database/testing/test-database.ts'
import { migrationsBefore } from '../../../platform/database/testing/test-migrations.ts'
import type { AgentId, LocationId } from '../../../platform/identity/identity.ts'
import { findList, findMissingIn, saveAnswer } from './complete-list-store.ts'

test('what a list had missed before its table got another key is still missed, and forgotten once the list is answered', async (t) => {
  const { url, pool, ownerPool } = await createTestDatabase(t)
  await ownerPool.query('drop schema public, monthly cascade; create schema public')
  await migrate(url, { directory: migrationsBefore(t, 'list_keys'), serverRole, log: () => {} })
  await ownerPool.query(
    `insert into organization (id, name) values (1, 'Practice');
     insert into location (id, organization_id, source_id, name) values (7, 1, 'a', 'A'), (8, 1, 'b', 'B');
     insert into complete_list (location_id, dataset, agent_id, began_at_upload, begun_at)
     select id, 'patients', 1, 1, now() from location;
     insert into complete_list_missing (list_id, source_id)
     select id, location_id || '-' || n from complete_list, generate_series(1, 3) as n`,
  )
  const { rows } = await ownerPool.query('select id from complete_list where location_id = 7')

  await migrate(url, { serverRole, log: () => {} })

  const key = { locationId: '7' as LocationId, dataset: 'patients', agentId: '1' as AgentId, fence: null } as const
  const list = await findList(pool, key, rows[0].id)
  assert.ok(list)
  assert.deepEqual((await findMissingIn(pool, list, ['7-1', '7-2', '8-1', '7-9'])).sort(), ['7-1', '7-2'])
  await saveAnswer(pool, list, '{}')
  assert.deepEqual(await findMissingIn(pool, list, ['7-1', '7-2']), [])
  assert.equal((await ownerPool.query('select from complete_list_missing')).rowCount, 3)
})
