import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Pool, PoolClient } from 'pg'
import type { OrganizationId } from '../../platform/identity/identity.ts'
import { recordAudit } from '../audit/store.ts'
import { change, of } from '../audit/testing/test-acts.ts'
import { createMailDelivery } from '../mail/delivery.ts'
import { createSmtp } from '../mail/smtp.ts'
import { operator, type Tenant } from '../membership/tenant.ts'
import { deleteOldNotices, listNotices, mailsPerHourMax, notify } from './notice.ts'
import { noticeActs } from './notice-acts.ts'
import { digestMax } from './notice-mail.ts'
import { createNotifier } from './notifier.ts'
import { changeSetting } from './settings.ts'
import { type NoticeWorld, publicUrl, someNotices } from './testing/test-notices.ts'

// One database and one mail server for all tests: each has a practice of its own.
let world: NoticeWorld
let pool: NoticeWorld['pool']
let set: NoticeWorld['set']
let context: NoticeWorld['context']

type Reader = Awaited<ReturnType<NoticeWorld['addReader']>>

/** A practice with an owner. */
async function somePractice(timeZone: string | null = null) {
  const id = await world.addOrganization(`Practice ${Math.random()}`)
  await pool.query('update organization set time_zone = $2 where id = $1', [id, timeZone])
  const tenant = { side: 'organization', id } as const
  return { tenant, owner: await world.addReader(tenant, 'owner') }
}

const patients = [of(['patients'], 'all')]
const given = { ...change, vendor: { id: '7', name: 'Vendor' }, after: patients, granted: patients }

/** An act of the practice that its owner is notified of. */
function grantChanged(db: Pool, id: OrganizationId, facts: typeof change = given) {
  const by = { userId: null, actor: 'Ada', ip: null, requestId: null }
  return recordAudit(db, { side: 'organization', tenantId: id, ...by, action: 'grant.change', facts })
}

const told = (tenant: Tenant, title = 'Look', kind: 'access' | 'datasets' | 'security' = 'access') =>
  notify(
    pool,
    { publicUrl, now: set.now },
    {
      ...{ title, body: `${title} at it.`, path: '/x', event: 'grant_changed', kind, to: 'grant.change', tenant },
    },
  )

const titlesOf = async ({ memberId }: Reader) => (await world.noticesOf(memberId)).map(({ title }) => title)

describe('notices', () => {
  const closers: (() => unknown)[] = []
  before(async () => {
    world = await someNotices({
      name: 'notices',
      after: (work: () => unknown) => closers.push(work),
    } as unknown as TestContext)
    ;({ pool, set, context } = world)
  })
  after(async () => {
    for (const close of closers.toReversed()) await close()
  })

  test('a process that dies between any two statements loses no notice, and makes none twice', async () => {
    const { tenant, owner } = await somePractice()
    await grantChanged(pool, tenant.id)
    await grantChanged(pool, tenant.id, { ...given, before: patients, after: [] })
    let deaths = 0
    for (let statements = 1; ; statements += 1) {
      let left = statements
      const isOver = () => {
        left -= 1
        return left < 0
      }
      const dying = { connect: async () => mortal(await pool.connect(), isOver) } as unknown as Pool
      try {
        await noticeActs({ ...context, pool: dying })
        break
      } catch {
        deaths += 1
        assert.deepEqual(await titlesOf(owner), [])
      }
    }
    assert.ok(deaths > 10, `${deaths} deaths`)
    assert.deepEqual(await titlesOf(owner), ['“Vendor” was granted access', 'The access of “Vendor” was ended'])
    assert.equal((await world.mailsWaiting(owner.email)).length, 2)
    assert.equal(await noticeActs(context), 0)
  })

  /** A connection that is lost at some statement. */
  function mortal(client: PoolClient, isOver: () => boolean): PoolClient {
    return new Proxy(client, {
      get: (target, name) => {
        if (name === 'query') {
          return async (...values: Parameters<PoolClient['query']>) => {
            const isEnd = /^(rollback|commit)$/i.test(String(values[0]))
            if (!isEnd && isOver()) throw new Error('the connection was lost')
            return await target.query(...values)
          }
        }
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  test('several processes notice each act once', async () => {
    const { tenant, owner } = await somePractice()
    for (let count = 0; count < 10; count += 1) await grantChanged(pool, tenant.id)
    await Promise.all([noticeActs(context), noticeActs(context), noticeActs(context)])
    while ((await noticeActs(context)) > 0);
    assert.equal((await titlesOf(owner)).length, 10)
  })

  test('an act with facts of another release is noticed, and holds up none behind it', async () => {
    const { tenant, owner } = await somePractice()
    await grantChanged(pool, tenant.id, { more: 'Something else' } as never)
    await grantChanged(pool, tenant.id)
    while ((await noticeActs(context)) > 0);
    assert.deepEqual(await titlesOf(owner), ['Changed a vendor’s access', '“Vendor” was granted access'])
  })

  test('who does something is not notified of it, and colleagues are', async () => {
    const { tenant, owner } = await somePractice()
    const admin = await world.addReader(tenant, 'admin')
    const by = { userId: admin.userId, actor: 'admin', ip: null, requestId: null }
    const act = { ...by, action: 'grant.change', facts: given } as const
    await recordAudit(pool, { side: 'organization', tenantId: tenant.id, ...act })
    while ((await noticeActs(context)) > 0);
    assert.deepEqual(await titlesOf(admin), [])
    assert.deepEqual(await titlesOf(owner), ['“Vendor” was granted access'])
  })

  test('one act that changes a thousand grants is one notice and one mail', async () => {
    const { tenant, owner } = await somePractice()
    await pool.query(
      `insert into location (id, organization_id, source_id, name)
     select 400000000000000 + n, $1, n::text, 'Location ' || n from generate_series(1, 1000) n`,
      [tenant.id],
    )
    const { companyId } = await world.addVendor()
    const admin = await world.signInAs({ organizationId: tenant.id }, 'admin')
    const path = `/organizations/${tenant.id}/vendors/${companyId}`
    const { access_version } = (await admin.get(path)).body
    const locations = Array.from({ length: 1000 }, (_, n) => ({ id: `${400000000000001 + n}`, datasets: ['patients'] }))
    const answer = await admin.put(`${path}/access`, { access_version, all_locations: [], locations })
    assert.equal(answer.status, 200, answer.text)
    while ((await noticeActs(context)) > 0);
    const [notice, ...more] = await world.noticesOf(owner.memberId)
    assert.deepEqual(more, [])
    assert.match(notice?.body ?? '', /Before: nothing\. Now: Patients at 1000 locations\.$/)
    assert.equal((await world.mailsWaiting(owner.email)).length, 1)
  })

  test('after twenty mails within an hour the rest goes into the daily mail, and the list has all', async () => {
    const { tenant, owner } = await somePractice()
    for (let count = 0; count < mailsPerHourMax + 5; count += 1) await told(tenant, `Notice ${count}`)
    assert.equal((await world.mailsWaiting(owner.email)).length, mailsPerHourMax)
    const notices = await world.noticesOf(owner.memberId)
    assert.deepEqual([notices.length, notices.filter((each) => each.is_for_digest).length], [mailsPerHourMax + 5, 5])
  })

  test('a mail server that is away gets the mails when it is back', async (t) => {
    const { tenant, owner } = await somePractice()
    await told(tenant)
    const away = createSmtp('smtp://127.0.0.1:1', 'portal@example.com')
    t.after(away.close)
    const { deliverDue } = createMailDelivery({ pool, send: away.send, log: world.log })
    assert.equal(await deliverDue(), 0)
    assert.equal((await world.mailsWaiting(owner.email)).length, 1)
    await pool.query('update mail set next_attempt_at = now()')
    await world.delivery.deliverDue()
    const [mail, ...more] = world.mailsTo(owner.email)
    assert.deepEqual(more, [])
    assert.match(mail?.headers ?? '', /^List-Unsubscribe: <https:\/\/bridgework\.example\/account\?tab=notices>$/m)
    assert.match(mail?.text ?? '', /^Look at it\.$/m)
  })

  test('mails of a kind come at once, once a day, or not at all, as the person chose; the list has each notice', async () => {
    const { tenant, owner } = await somePractice('America/New_York')
    await changeSetting(pool, owner.memberId, { kind: 'access', delivery: 'daily' })
    set.now = new Date('2026-11-20T15:00:00Z')
    await told(tenant, 'First')
    await told(tenant, 'Second')
    await changeSetting(pool, owner.memberId, { kind: 'datasets', delivery: 'daily' })
    await told(tenant, 'Third', 'datasets')
    await changeSetting(pool, owner.memberId, { kind: 'datasets', delivery: 'off' })
    await told(tenant, 'Fourth', 'datasets')
    assert.equal(await world.digest(), 0)
    // Seven in the morning in New York is noon in UTC.
    set.now = new Date('2026-11-21T11:59:00Z')
    assert.equal(await world.digest(), 0)
    set.now = new Date('2026-11-21T12:00:00Z')
    assert.equal(await world.digest(), 1)
    assert.equal(await world.digest(), 0)
    const [mail, ...more] = world.mailsTo(owner.email)
    assert.deepEqual(more, [])
    assert.match(mail?.headers ?? '', /^Subject: 2 notices from Bridgework$/m)
    assert.deepEqual(mail?.text.match(/^(First|Second|Third|Fourth) ·/gm), ['Second ·', 'First ·'])
    assert.equal((await titlesOf(owner)).length, 4)
    // What comes after seven waits for the next day.
    await told(tenant, 'Fifth')
    assert.equal(await world.digest(), 0)
    set.now = new Date('2026-11-22T12:00:00Z')
    assert.equal(await world.digest(), 1)
  })

  test('a member of a practice and of a vendor gets one daily mail with both, which names the first fifty', async () => {
    const { tenant, owner } = await somePractice('Asia/Tokyo')
    const { companyId } = await world.addVendor()
    await world.joinCompany(owner, companyId, 'owner')
    const company: Tenant = { side: 'company', id: companyId }
    const { rows } = await pool.query('select id from membership where company_id = $1 and user_id = $2', [
      companyId,
      owner.userId,
    ])
    for (const id of [owner.memberId, rows[0]?.id]) await changeSetting(pool, id, { kind: 'access', delivery: 'daily' })
    set.now = new Date('2026-11-20T15:00:00Z')
    for (let count = 0; count < digestMax; count += 1) await told(tenant, `Notice ${count}`)
    await notify(
      pool,
      { publicUrl, now: set.now },
      {
        ...{
          title: 'Of the vendor',
          body: 'B.',
          path: '/x',
          event: 'grant_given',
          kind: 'access',
          to: 'company.update',
          tenant: company,
        },
      },
    )
    // Seven in the morning in Tokyo is 22:00 in UTC.
    set.now = new Date('2026-11-20T22:00:00Z')
    assert.equal(await world.digest(), 1)
    const [mail, ...more] = world.mailsTo(owner.email)
    assert.deepEqual(more, [])
    assert.match(mail?.text ?? '', /^Of the vendor · Vendor/m)
    assert.match(mail?.text ?? '', /^1 more is on the page "Notices" of the portal\.$/m)
  })

  test('mails about security cannot be turned off, and a member who was removed gets neither notices nor mails', async () => {
    const { tenant, owner } = await somePractice()
    await assert.rejects(
      changeSetting(pool, owner.memberId, { kind: 'security', delivery: 'off' }),
      /cannot be turned off/,
    )
    await told(tenant, 'Secure', 'security')
    const [mail] = await world.mailsWaiting(owner.email)
    assert.match(mail?.text_body ?? '', /Mails about security cannot be turned off\.$/m)
    assert.equal(mail?.settings_url, null)
    await changeSetting(pool, owner.memberId, { kind: 'access', delivery: 'daily' })
    set.now = new Date('2026-11-20T15:00:00Z')
    await told(tenant)
    await pool.query('update membership set removed_at = now() where id = $1', [owner.memberId])
    await told(tenant, 'Later')
    set.now = new Date('2026-11-25T15:00:00Z')
    world.smtp.mails.length = 0
    await world.digest()
    assert.deepEqual(
      world.mailsTo(owner.email).filter(({ text }) => text.includes('Look')),
      [],
    )
    assert.equal((await titlesOf(owner)).length, 2)
  })

  test('notices are deleted after 90 days, read or not', async () => {
    const { tenant, owner } = await somePractice()
    set.now = new Date('2026-01-01T00:00:00Z')
    await told(tenant, 'Old')
    set.now = new Date('2026-03-01T00:00:00Z')
    await told(tenant, 'New')
    await deleteOldNotices(pool, new Date('2026-04-02T00:00:00Z'))
    assert.deepEqual(await titlesOf(owner), ['New'])
    assert.equal((await listNotices(pool, owner.memberId, { limit: 5, offset: 5 })).total, 1)
  })

  test('the notifier works by itself, takes failed disclosures from the log, and stops', async () => {
    set.now = new Date()
    const { tenant, owner } = await somePractice()
    const admin = await world.addReader(operator, 'admin')
    const notifier = createNotifier(context, { everyMs: 10 })
    notifier.observe({ event: 'disclosure.failed', waiting: 1, code: '57P03' })
    notifier.start()
    await grantChanged(pool, tenant.id)
    while ((await titlesOf(owner)).length === 0 || !(await titlesOf(admin)).includes('Disclosures cannot be recorded'));
    await notifier.stop()
  })
})
