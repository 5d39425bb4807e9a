import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverRole } from '../../platform/database/embedded/cluster.ts'
import { migrate } from '../../platform/database/migrate.ts'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { migrationsBefore } from '../../platform/database/testing/test-migrations.ts'

test('apps and recovery codes of before count since the history says, and since today where it says nothing', async (t) => {
  const { url, ownerPool } = await createTestDatabase(t)
  await ownerPool.query('drop schema public, monthly cascade; create schema public')
  await migrate(url, { directory: migrationsBefore(t, 'means_of_signing_in'), serverRole, log: () => {} })
  const add = async (name: string, acts: [action: string, at: string][]) => {
    const { rows } = await ownerPool.query<{ id: string }>(
      `insert into portal_user (id, name, email) values (gen_random_uuid(), $1, $1) returning id`,
      [name],
    )
    await ownerPool.query(`insert into portal_two_factor values (gen_random_uuid(), $1, 's', 'b')`, [rows[0]?.id])
    for (const [action, at] of acts) {
      await ownerPool.query(
        `insert into audit_event (side, user_id, actor, action, occurred_at) values ('account', $1, 'a', $2, $3)`,
        [rows[0]?.id, action, at],
      )
    }
  }
  await add('known', [
    ['account.two_factor_enable', '2026-01-02T00:00:00Z'],
    ['account.two_factor_disable', '2026-01-03T00:00:00Z'],
    ['account.two_factor_enable', '2026-01-04T00:00:00Z'],
    ['account.recovery_codes_renew', '2026-01-05T00:00:00Z'],
  ])
  await add('unknown', [])

  await migrate(url, { serverRole, log: () => {} })

  const { rows } = await ownerPool.query<{ name: string; added_at: Date; codes_made_at: Date }>(
    `select u.name, t.added_at, t.codes_made_at from portal_two_factor t join portal_user u on u.id = t.user_id order by 1`,
  )
  assert.deepEqual(
    [rows[0]?.added_at, rows[0]?.codes_made_at],
    [new Date('2026-01-04T00:00:00Z'), new Date('2026-01-05T00:00:00Z')],
  )
  for (const at of [rows[1]?.added_at, rows[1]?.codes_made_at]) assert.ok(Date.now() - Number(at) < 60_000)
})
