import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { someAccessWorld } from '../consent/testing/test-world.ts'
import { createCompany } from '../membership/create-tenant.ts'
import { addMember } from '../membership/member.ts'
import {
  acceptAgreement,
  agreementInForce,
  ensureFirstAgreement,
  findAgreement,
  findCurrentAgreement,
  publishAgreement,
} from './agreement.ts'
import { agreementOne } from './agreement-1.ts'

test('W01: only the owner of the company accepts the agreement, and only the version that is current', async (t) => {
  const world = await someAccessWorld(t)
  const { company, owner } = await createCompany(world.pool, {
    name: 'Vendor',
    owner: { email: 'o@vendor.example', name: 'Olga Owner' },
  })
  const stranger = await world.addCompany()
  const accept = (memberId: typeof owner.id, version: number) =>
    acceptAgreement(world.pool, { companyId: company.id, memberId, version })
  for (const role of ['admin', 'member'] as const) {
    const person = await addMember(
      world.pool,
      { side: 'company', id: company.id },
      { email: `${role}@vendor.example`, name: role, role },
    )
    await assert.rejects(accept(person.id, 1), { code: 'role_denied' })
  }
  await assert.rejects(accept(stranger.owner.id, 1), { code: 'member_unknown' })
  await assert.rejects(accept(owner.id, 2), { code: 'agreement_not_current' })
  assert.equal((await agreementInForce(world.pool, company.id)).isInForce, false)

  await accept(owner.id, 1)
  const first = await agreementInForce(world.pool, company.id)
  await accept(owner.id, 1)

  assert.equal(first.isInForce, true)
  assert.equal(first.acceptedVersion, 1)
  assert.deepEqual((await agreementInForce(world.pool, company.id)).acceptedAt, first.acceptedAt)

  await publishAgreement(world.pool, { version: 2, body: 'Be kinder.', enforcedAt: new Date(Date.now() + 60_000) })
  await assert.rejects(accept(owner.id, 1), { code: 'agreement_not_current' })
  const inGrace = await agreementInForce(world.pool, company.id)
  assert.deepEqual([inGrace.current?.version, inGrace.acceptedVersion, inGrace.isInForce], [2, 1, true])
})

test('a company that accepted nothing has no agreement in force, not even before a first version binds', async (t) => {
  const world = await someAccessWorld(t)
  const { company } = await createCompany(world.pool, {
    name: 'Vendor',
    owner: { email: 'o@vendor.example', name: 'O' },
  })
  await world.ownerPool.query('update agreement set enforced_at = $1', [new Date(Date.now() + 60_000)])
  assert.equal((await agreementInForce(world.pool, company.id)).isInForce, false)
})

test('versions of the agreement follow one another, and two publications at once do not both count', async (t) => {
  const world = await someAccessWorld(t)
  const publish = (version: number, body = agreementOne) =>
    publishAgreement(world.pool, { version, body, enforcedAt: new Date(0) })

  await assert.rejects(publish(1), { code: 'agreement_version_wrong' })
  await assert.rejects(publish(3), { code: 'agreement_version_wrong', message: /is 2, not 3/ })
  await assert.rejects(publish(2, ' \n'), { code: 'field_invalid' })
  // The second one comes while the first is not yet committed.
  let second: Promise<unknown> | null = null
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await publishAgreement(world.pool, { version: 2, body: agreementOne, enforcedAt: new Date(0) }, async () => {
    second = publish(2)
    second.catch(() => {})
    while ((await world.pool.query(waiting)).rowCount === 0);
  })
  await assert.rejects(second ?? assert.fail(), { code: 'agreement_version_wrong', message: /is 3, not 2/ })

  assert.equal((await findAgreement(world.pool, 2))?.body, agreementOne)
  assert.equal(await findAgreement(world.pool, 3), null)
})

test('a new installation has the first agreement from its start, once, and later versions are left alone', async (t) => {
  const { pool } = await createTestDatabase(t)
  await Promise.all([ensureFirstAgreement(pool), ensureFirstAgreement(pool)])
  const first = await findCurrentAgreement(pool)
  assert.deepEqual([first?.version, first?.body], [1, agreementOne])
  await publishAgreement(pool, { version: 2, body: 'Be kinder.', enforcedAt: new Date(0) })
  await ensureFirstAgreement(pool)
  assert.equal((await findCurrentAgreement(pool))?.version, 2)
})
