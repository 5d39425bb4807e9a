import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../membership/tenant.ts'
import { createNotifier } from './notifier.ts'
import { someNotices } from './testing/test-notices.ts'

test('of several processes one notices what is of the installation, and each what it alone knows', async (t) => {
  const world = await someNotices(t)
  const { pool, context, set } = world
  const admin = await world.addReader(operator, 'admin')
  const titles = async () => (await world.noticesOf(admin.memberId)).map(({ title }) => title)
  set.freeShare = 0.05
  await pool.query(
    `insert into mail (recipient, subject, text_body, created_at, attempts) values ('a@example.com', 's', 't', now() - interval '1 day', 1)`,
  )

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
