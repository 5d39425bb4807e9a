import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recheckDomains } from './modules/directory/domain.ts'
import { createMailDelivery } from './modules/mail/delivery.ts'
import { queueMail } from './modules/mail/queue.ts'
import { type Finding, noteFindings, trackConditions } from './modules/notices/conditions.ts'
import { publicUrl, someNotices } from './modules/notices/testing/test-notices.ts'
import { dropBrokenLists } from './modules/records/removals/removal-store.ts'
import { createTestDatabase } from './platform/database/testing/test-database.ts'
import { someWorld } from './testing/test-world.ts'

test('mails do not wait for a clock that went back, and those that failed wait as long as they are to', async (t) => {
  const { pool } = await createTestDatabase(t)
  // As they were written while the clock was four hours ahead.
  const rows = [
    { recipient: 'new@example.com', attempts: 0, pause: '4 hours', isSent: true },
    { recipient: 'tried@example.com', attempts: 2, pause: '4 hours 2 minutes', isSent: true },
    { recipient: 'failing@example.com', attempts: 9, pause: '4 hours 16 minutes', isSent: false },
    { recipient: 'waiting@example.com', attempts: 2, pause: '2 minutes', isSent: false },
  ]
  for (const { recipient, attempts, pause } of rows) {
    await queueMail(pool, { recipient, subject: 'Hello', text: 'Hello' })
    await pool.query(`update mail set attempts = $2, next_attempt_at = now() + $3::interval where recipient = $1`, [
      recipient,
      attempts,
      pause,
    ])
  }
  const sent: string[] = []
  const send = async ({ recipient }: { recipient: string }) => void sent.push(recipient)
  await createMailDelivery({ pool, send, log: () => {} }).deliverDue()
  assert.deepEqual(sent.toSorted(), rows.flatMap(({ recipient, isSent }) => (isSent ? [recipient] : [])).toSorted())
})

test('proofs of websites are checked again after the clock went back', async (t) => {
  const world = await someWorld(t)
  const { companyId } = await world.addVendor()
  const now = new Date()
  await world.pool.query(
    `insert into company_domain (company_id, domain, token, method, verified_at, checked_at) values ($1, 'acme.example', 'token', 'dns', $2, $2)`,
    [companyId, new Date(now.getTime() + 3 * 3_600_000)],
  )
  let checks = 0
  const access = {
    resolveTxt: async () => {
      checks += 1
      return [['token']]
    },
    fetch: () => assert.fail('the record is enough'),
    originOf: () => '',
  }
  for (let round = 0; round < 3; round += 1) await recheckDomains({ pool: world.pool, access, now: () => now })
  assert.equal(checks, 1)
})

test('a condition that is over ends, and one that begins is noticed, after the clock went back', async (t) => {
  const world = await someNotices(t)
  const { organizationId } = await world.addLocation()
  const owner = await world.addReader({ side: 'organization', id: organizationId }, 'owner')
  const start = Date.now()
  const look = async (hours: number, names: string[]) => {
    const event = 'agent_silent' as const
    const findings = names.map((about): Finding => ({ event, tenantId: organizationId, item: about, about }))
    const now = new Date(start + hours * 3_600_000)
    await noteFindings(world.pool, now, findings)
    await trackConditions(world.pool, { publicUrl, now }, [event])
  }
  await look(5, ['Downtown'])
  await look(0, [])
  assert.deepEqual((await world.noticesOf(owner.memberId)).length, 2, 'it began and ended')
  await look(1.1, ['Uptown'])
  assert.deepEqual((await world.noticesOf(owner.memberId)).length, 3)
})

test('a list that broke off before the clock went back is dropped', async (t) => {
  const { pool } = await createTestDatabase(t)
  const add = (ahead: string) =>
    pool.query(
      `insert into removal (location_id, dataset, id, state, created_at)
       values (1, 'patients', gen_random_uuid(), 'listing', now() + $1::interval)`,
      [ahead],
    )
  for (const ahead of ['3 hours', '-2 hours', '0', '10 minutes']) await add(ahead)
  await dropBrokenLists(pool)
  const { rows } = await pool.query('select state, count(*)::integer from removal group by 1 order by 1')
  assert.deepEqual(rows, [
    { state: 'dropped', count: 2 },
    { state: 'listing', count: 2 },
  ])
})
