import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { operator } from '../membership/tenant.ts'
import { urgentChecks } from './checks.ts'
import { checkConditions, createNotifier } from './notifier.ts'
import { someNotices } from './testing/test-notices.ts'

test('of several processes one notices what is of the installation, and each what it alone knows', async (t) => {
  const world = await someNotices(t)
  const { pool, context, set } = world
  const admin = await world.addReader(operator, 'admin')
  const titles = async () => (await world.noticesOf(admin.memberId)).map(({ title }) => title)
  set.freeShare = 0.05
  await queueOldMail(pool)

  const other = createNotifier(context, { everyMs: 10, checkEveryMs: 10, when: () => false })
  t.after(other.stop)
  other.observe({ event: 'disclosure.failed', waiting: 1, code: '57P03' })
  other.start()
  while ((await titles()).length < 2);
  await other.stop()
  assert.deepEqual((await titles()).toSorted(), ['A disk is almost full', 'Disclosures cannot be recorded'])

  const chosen = createNotifier(context, { everyMs: 10, checkEveryMs: 10, when: () => true })
  t.after(chosen.stop)
  chosen.start()
  while (!(await titles()).includes('Work waits too long'));
  await chosen.stop()
})

test('a look for what is urgent ends nothing: who was enrolled an hour ago is not noticed again', async (t) => {
  const world = await someNotices(t)
  const { pool, context, set } = world
  const location = await world.addLocation()
  const owner = await world.addReader({ side: 'organization', id: location.organizationId }, 'owner')
  const enrolled = async () =>
    (await world.noticesOf(owner.memberId)).filter(({ event }) => event === 'agent_enrolled').length
  await world.round()
  assert.equal(await enrolled(), 1)

  // The machine slept; the first thing that happens then is another enrolment.
  set.now = new Date(set.now.getTime() + 3_600_000 + 1)
  const { agentId } = await world.addAgent(location.organizationId)
  await pool.query('update agent set enrolled_at = $2 where id = $1', [agentId, set.now])
  await checkConditions(context, null, urgentChecks)
  await world.round()
  assert.equal(await enrolled(), 2)
})

test('a process that slept in the middle of a check ends nothing that another one found meanwhile', async (t) => {
  const world = await someNotices(t)
  const { pool, context, set } = world
  const admin = await world.addReader(operator, 'admin')
  const titles = async () => (await world.noticesOf(admin.memberId)).map(({ title }) => title)
  set.freeShare = 0.05
  await queueOldMail(pool)
  const twoHoursPass = () => {
    set.now = new Date(set.now.getTime() + 2 * 3_600_000)
  }
  const sleeping = {
    ...context,
    freeShare: async () => {
      twoHoursPass()
      await checkConditions(context, null)
      return 0.05
    },
  }
  await checkConditions(context, null)
  twoHoursPass()
  await checkConditions(sleeping, null)
  await checkConditions(context, null)
  assert.deepEqual((await titles()).toSorted(), ['A disk is almost full', 'Work waits too long'])
  const { rows } = await pool.query<{ seen_at: Date }>(`select seen_at from notice_condition where event = 'disk_full'`)
  assert.deepEqual(rows, [{ seen_at: set.now }])
})

function queueOldMail(pool: Pool) {
  return pool.query(
    `insert into mail (recipient, subject, text_body, created_at, attempts) values ('a@example.com', 's', 't', now() - interval '1 day', 1)`,
  )
}
