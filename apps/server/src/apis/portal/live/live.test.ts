import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { livePath, portalApiPath } from '@bridgework/contract/portal'
import { createLiveWatch, type LiveWatch } from '../../../modules/live/live-watch.ts'
import { notify } from '../../../modules/notices/notice.ts'
import { aHeartbeat, aPlan } from '../../../testing/test-world.ts'
import { type PortalWorld, type SignedIn, somePortal } from '../testing/test-portal.ts'
import { openStream } from './testing/test-stream.ts'

test('an open page hears within 2 s which of its topics changed, and of no other tenant', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const { organizationId } = location
  const vendor = await world.addVendor([location])
  const owner = await world.signInAs({ organizationId }, 'owner')
  const strangers = await world.addOrganization()
  const stranger = await world.signInAs({ organizationId: strangers }, 'owner')
  const ofVendor = await world.signInAs({ companyId: vendor.companyId }, 'admin')
  const page = await open(t, world, owner, organizationId)
  const other = await open(t, world, stranger, strangers)
  const ofCompany = await open(t, world, ofVendor, vendor.companyId)
  await settled(page)

  const heard: Record<string, number> = {}
  const changes: Record<string, () => Promise<unknown>> = {
    settings: () => owner.patch(`/organizations/${organizationId}`, { name: 'New name', time_zone: null }),
    data: () => location.upload('insurance_plans', { p1: aPlan({ plan_name: 'Changed' }) }),
    reads: () => vendor.get(`/locations/${location.id}/insurance_plans`),
    agents: () => world.post('/agents/self/heartbeats', location.agent, aHeartbeat()),
    notices: () =>
      notify(
        world.pool,
        { publicUrl: 'http://localhost', now: new Date() },
        {
          ...{ event: 'removal_held', kind: 'removals', to: 'removal.decide', body: 'Look at it.', title: 'Held' },
          ...{ path: '/', tenant: { side: 'organization', id: organizationId } },
        },
      ),
    access: () => owner.delete(`/organizations/${organizationId}/vendors/${vendor.companyId}/access`),
  }
  for (const [topic, change] of Object.entries(changes)) {
    const from = page.events.length
    const startedMs = performance.now()
    await change()
    heard[topic] = (await page.hears(topic, from)).atMs - startedMs
  }

  await ofCompany.hears('access')
  for (const [topic, ms] of Object.entries(heard)) assert.ok(ms < 2_000, `${topic}: ${Math.round(ms)} ms`)
  assert.deepEqual([...new Set(other.events.flatMap(({ topics }) => topics))], ['account'])
  assert.ok(!ofCompany.events.some(({ topics }) => topics.includes('data') || topics.includes('agents')))
})

test('a stream is refused as a request is, and is no use of the session', async (t) => {
  const world = await somePortal(t)
  const organizationId = await world.addOrganization()
  const owner = await world.signInAs({ organizationId }, 'owner')
  const statusOf = async (cookie: string, query: string) =>
    (await world.request(`${portalApiPath}${livePath}${query}`, { headers: { cookie } })).status
  assert.equal(await statusOf('', `?tenant_id=${organizationId}`), 401)
  assert.equal(await statusOf(owner.cookie, `?tenant_id=${await world.addOrganization()}`), 404)
  assert.equal(await statusOf(owner.cookie, '?tenant_id=operator'), 403)
  assert.equal(await statusOf(owner.cookie, '?tenant_id=nobody'), 404)
  assert.equal(await statusOf(owner.cookie, '?other=1'), 422)

  await world.pool.query(
    `update portal_session set updated_at = now() - interval '5 minutes', expires_at = now() + interval '10 minutes'`,
  )
  const stateOf = () => world.pool.query('select updated_at, expires_at from portal_session').then(({ rows }) => rows)
  const before = await stateOf()
  const page = await open(t, world, owner, organizationId)
  await settled(page)
  assert.deepEqual(await stateOf(), before)
  assert.deepEqual((await world.pool.query('select from session_use')).rowCount, 0)
  // The idle end of the session ends its stream.
  await world.pool.query('update portal_session set expires_at = now()')
  await page.over
})

test('a stream ends at once when the person signs out, is removed, or the service stops', async (t) => {
  const world = await somePortal(t)
  const organizationId = await world.addOrganization()
  const owner = await world.signInAs({ organizationId }, 'owner')
  const member = await world.signInAs({ organizationId }, 'member')
  const leaver = await world.signInAs({ organizationId }, 'member')
  const [ofOwner, ofMember, ofLeaver] = await Promise.all([
    open(t, world, owner, organizationId),
    open(t, world, member, organizationId),
    open(t, world, leaver, organizationId),
  ])
  await settled(ofOwner)
  assert.equal((await leaver.post('/auth/sign-out', {})).status, 200)
  await ofLeaver.over
  assert.ok(!ofOwner.isOver())

  const { body } = await owner.get(`/tenants/${organizationId}/members`)
  const { data: members } = body as unknown as { data: { id: string; email: string }[] }
  const removed = members.find(({ email }) => email === member.person.email)
  assert.equal((await owner.delete(`/tenants/${organizationId}/members/${removed?.id}`)).status, 200)
  await Promise.all([ofMember.over, ofOwner.over])
  const again = await open(t, world, owner, organizationId)
  assert.equal((await openStream(t, { ...world, ...member, tenantId: organizationId })).response.status, 404)

  const startedMs = performance.now()
  await world.app.close()
  await again.over
  assert.ok(performance.now() - startedMs < 2_000)
})

test('a page that leaves is forgotten, also while its session is still looked up, and a session has a few streams at most', async (t) => {
  const watched: { live: LiveWatch | null; open: number; looked: number } = { live: null, open: 0, looked: 0 }
  const live: LiveWatch = {
    watch(viewer) {
      const leave = watched.live?.watch(viewer) ?? assert.fail('no watch')
      watched.open += 1
      return () => {
        watched.open -= 1
        leave()
      }
    },
    stop: async () => await watched.live?.stop(),
  }
  const world = await somePortal(t, { live })
  watched.live = createLiveWatch({ pool: world.pool, now: () => new Date(), log: world.log })
  const organizationId = await world.addOrganization()
  const owner = await world.signInAs({ organizationId }, 'owner')
  const pages = await Promise.all(Array.from({ length: 8 }, () => open(t, world, owner, organizationId)))
  const refused = await openStream(t, { ...world, ...owner, tenantId: organizationId })
  assert.equal(refused.response.status, 503)
  for (const page of pages) page.leave()
  await until('every stream is left', () => watched.open === 0)

  // Holds the look-up of the session, until the page has left.
  const client = await world.ownerPool.connect()
  t.after(() => client.release())
  await client.query('begin; lock table portal_session in access exclusive mode')
  const leaving = httpRequest(`${world.url}${portalApiPath}${livePath}?tenant_id=${organizationId}`, {
    headers: { cookie: owner.cookie },
    agent: false,
  })
  leaving.on('error', () => {})
  leaving.end()
  await until('the look-up waits', async () => {
    const { rows } = await world.ownerPool.query(
      `select from pg_locks where relation = 'portal_session'::regclass and not granted`,
    )
    return rows.length > 0
  })
  const answered = world.events.length
  leaving.destroy()
  await client.query('commit')
  await until('the request is answered', () =>
    world.events.slice(answered).some((event) => event.event === 'request.answered'),
  )
  assert.equal(watched.open, 0)
})

test('a reader that takes nothing is dropped, and others hear on', async (t) => {
  const viewers: Parameters<LiveWatch['watch']>[0][] = []
  const left: number[] = []
  const live: LiveWatch = {
    watch(viewer) {
      const index = viewers.push(viewer) - 1
      return () => void left.push(index)
    },
    stop: async () => {
      for (const viewer of viewers) viewer.end()
    },
  }
  const world = await somePortal(t, { live })
  const organizationId = await world.addOrganization()
  const owner = await world.signInAs({ organizationId }, 'owner')
  const slow = httpRequest(`${world.url}${portalApiPath}${livePath}`, {
    headers: { cookie: owner.cookie },
    agent: false,
  })
  slow.on('error', () => {})
  t.after(() => slow.destroy())
  await new Promise<void>((resolve) => slow.on('response', (response) => resolve(void response.pause())).end())
  const page = await open(t, world, owner, organizationId)

  // The system's buffers take some megabytes before the stream's own are full.
  const [first, second] = viewers
  const untilMs = performance.now() + 20_000
  while (!left.includes(0)) {
    assert.ok(performance.now() < untilMs, 'the slow reader was not dropped')
    for (let index = 0; index < 500; index++) first?.tell(['settings', 'access', 'locations', 'agents', 'data'])
    await new Promise(setImmediate)
  }
  second?.tell(['settings'])
  await page.hears('settings')
  assert.deepEqual(left, [0])
})

async function open(t: TestContext, world: PortalWorld, { cookie }: Pick<SignedIn, 'cookie'>, tenantId: string) {
  const stream = await openStream(t, { url: world.url, cookie, tenantId })
  assert.equal(stream.response.status, 200)
  assert.equal(stream.response.headers.get('content-type'), 'text/event-stream')
  return stream
}

/** Until the first looks are over, which may tell what the test itself did before the page was opened. */
async function settled(page: { events: unknown[] }): Promise<void> {
  for (let before = -1; before !== page.events.length; ) {
    before = page.events.length
    await wait(1_200)
  }
}

/** Waits until it holds; fails after 20 s. */
async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + 20_000
  while (!(await holds())) {
    assert.ok(performance.now() < untilMs, what)
    await wait(20)
  }
}
