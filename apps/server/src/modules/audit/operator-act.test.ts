import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { recordOperatorAct } from './operator-act.ts'

test('K36: an act of the operator is in the operator’s history and in that of each whom it concerns; a person is not shown the operator’s address', async (t) => {
  const { pool } = await createTestDatabase(t)
  const [company, organization, person] = [randomUUID(), '7', randomUUID()]
  const act = {
    actor: 'Otto <otto@example.com>',
    action: 'signing_key.withdraw',
    facts: { kid: 'Acme' },
    ip: '203.0.113.9',
    reason: 'asked',
    userId: null,
    requestId: null,
  } as const

  await recordOperatorAct(
    pool,
    act,
    { side: 'company', id: company },
    undefined,
    { side: 'organization', id: organization },
    { side: 'account', id: person },
  )

  const { rows } = await pool.query(
    'select side, tenant_id, user_id, host(ip) as ip, actor, action, facts, reason from audit_event order by id',
  )
  const { ip, userId: _, requestId: __, ...said } = act
  assert.deepEqual(rows, [
    { side: 'operator', tenant_id: null, user_id: null, ip, ...said },
    { side: 'company', tenant_id: company, user_id: null, ip, ...said },
    { side: 'organization', tenant_id: organization, user_id: null, ip, ...said },
    { side: 'account', tenant_id: null, user_id: person, ip: null, ...said },
  ])
})
