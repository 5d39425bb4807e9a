import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Answer } from '../../../testing/test-world.ts'
import { type SignedIn, somePortal } from '../testing/test-portal.ts'

type Row = Record<string, unknown>

/** What an answer of the portal holds, whatever its type: tests read the members that they expect. */
function read<T = Row>(answer: Answer): T {
  assert.ok(answer.status < 300, answer.text)
  return answer.body as unknown as T
}

async function rowsOf(person: SignedIn, path: string): Promise<Row[]> {
  return read<{ data: Row[] }>(await person.get(path)).data
}

async function someOperator(t: TestContext) {
  const world = await somePortal(t)
  return { world, operator: await world.signInAs('operator', 'admin') }
}

test('the operator makes a company and an organization, whose owners are invited by mail; a refused one leaves nothing', async (t) => {
  const { world, operator } = await someOperator(t)
  const owner = { email: 'owner@example.com', name: 'Olga Owner' }

  const company = read(await operator.post('/operator/companies', { name: 'Vendor Ltd', owner }))
  const organization = read(await operator.post('/operator/organizations', { name: 'Smile Group', owner }))

  const [listed] = await rowsOf(operator, '/operator/companies')
  assert.deepEqual(
    [
      listed?.id,
      listed?.name,
      listed?.state,
      listed?.owner_email,
      listed?.agreement_in_force,
      listed?.has_live_key_pair,
    ],
    [company.id, 'Vendor Ltd', 'active', owner.email, false, false],
  )
  const [practice] = await rowsOf(operator, '/operator/organizations')
  assert.deepEqual(
    [practice?.id, practice?.name, practice?.owner_email, practice?.locations, practice?.agents],
    [organization.id, 'Smile Group', owner.email, 0, 0],
  )
  const mails = async () =>
    (await world.pool.query<{ text_body: string }>('select text_body from mail order by id')).rows.map(
      (row) => row.text_body,
    )
  assert.equal((await mails()).length, 2)
  assert.match((await mails())[0] ?? '', /Vendor Ltd/)
  assert.match((await mails())[1] ?? '', /Smile Group/)

  for (const path of ['/operator/companies', '/operator/organizations']) {
    const refused = await operator.post(path, { name: 'Other', owner: { email: 'nobody', name: 'N' } })
    assert.deepEqual([refused.status, refused.body.code], [422, 'field_invalid'])
    assert.equal((await rowsOf(operator, path)).length, 1)
  }
  assert.equal((await mails()).length, 2)
  assert.deepEqual(
    (await rowsOf(operator, '/operator/events')).map((event) => event.what),
    ['Created the practice “Smile Group”', 'Created the company “Vendor Ltd”'],
  )
})

test('a suspended company is refused at its next request and reads on when it is resumed; a closed one stays closed', async (t) => {
  const { world, operator } = await someOperator(t)
  const vendor = await world.addVendor()
  const path = `/operator/companies/${vendor.companyId}/state`
  const ask = async () => (await vendor.get('/organizations')).status

  assert.equal(await ask(), 200)
  read(await operator.post(path, { state: 'suspended' }))
  assert.equal(await ask(), 401)
  read(await operator.post(path, { state: 'active' }))
  assert.equal(await ask(), 200)
  read(await operator.post(path, { state: 'closed' }))
  assert.equal(await ask(), 401)
  const refused = await operator.post(path, { state: 'active' })
  assert.deepEqual([refused.status, refused.body.code], [409, 'company_closed'])
  for (const id of ['1b4e28ba-2fa1-4d2b-883f-0016d3cca427', 'all']) {
    const unknown = await operator.post(`/operator/companies/${id}/state`, { state: 'suspended' })
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'company_unknown'])
  }
  assert.deepEqual(
    (await rowsOf(operator, '/operator/events')).map((event) => event.what),
    ['Closed the company “Vendor”', 'Resumed the company “Vendor”', 'Suspended the company “Vendor”'],
  )
})

test('support acts only with a reason, which its history and that of the company have, and closes no company', async (t) => {
  const { world, operator } = await someOperator(t)
  const support = await world.signInAs('operator', 'support')
  const vendor = await world.addVendor()
  const owner = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  const path = `/operator/companies/${vendor.companyId}/state`
  const refused = async (answer: Promise<Answer>, status: number, code: string) => {
    const { status: actual, body } = await answer
    assert.deepEqual([actual, body.code], [status, code])
  }

  for (const reason of [{}, { reason: '' }, { reason: '  ' }])
    await refused(support.post(path, { state: 'suspended', ...reason }), 422, 'field_invalid')
  const tenant = { name: 'Other', owner: { name: 'O', email: 'o@example.com' } }
  await refused(support.post('/operator/companies', tenant), 422, 'field_invalid')
  await refused(support.post('/operator/organizations', tenant), 422, 'field_invalid')
  await refused(support.post(path, { state: 'closed', reason: 'Ticket 12' }), 403, 'role_denied')
  assert.deepEqual(await rowsOf(operator, '/operator/events'), [])
  assert.equal((await vendor.get('/organizations')).status, 200)

  read(await support.post(path, { state: 'suspended', reason: ' Ticket 12 ' }))

  assert.equal((await vendor.get('/organizations')).status, 401)
  for (const [person, history] of [
    [operator, '/operator/events'],
    [owner, `/companies/${vendor.companyId}/events`],
  ] as const) {
    const [event, ...more] = await rowsOf(person, history)
    const { actor, action, what, reason } = event ?? {}
    assert.deepEqual(
      [actor, action, what, reason, more.length],
      [
        `Person <${support.person.email}>`,
        'operator.company_suspend',
        'Suspended the company “Vendor”',
        'Ticket 12',
        0,
      ],
    )
  }
  read(await operator.post(path, { state: 'closed' }))
})

test('the operator finds companies by name, owner and state, and sees which of them may read and when they last asked', async (t) => {
  const { world, operator } = await someOperator(t)
  const [busy, quiet] = [await world.addVendor([await world.addLocation()]), await world.addVendor()]
  await busy.get('/organizations')
  await world.usage.flush()
  await world.pool.query(`update company set name = 'Quiet_100%' where id = $1`, [quiet.companyId])
  read(await operator.post(`/operator/companies/${quiet.companyId}/state`, { state: 'suspended' }))

  const ids = async (query: string) => (await rowsOf(operator, `/operator/companies?${query}`)).map((each) => each.id)
  assert.deepEqual(await ids(''), [quiet.companyId, busy.companyId])
  assert.deepEqual(await ids('search=_100%25'), [quiet.companyId])
  assert.deepEqual(await ids('search=example.com&state=active'), [busy.companyId])
  assert.deepEqual(await ids('state=closed'), [])
  assert.equal((await operator.get('/operator/companies?state=gone')).status, 422)
  const beyond = read(await operator.get('/operator/companies?page=2'))
  assert.deepEqual([beyond.total, beyond.data, beyond.page_size], [2, [], 25])
  const row = (await rowsOf(operator, '/operator/companies?state=active'))[0]
  assert.deepEqual([row?.agreement_in_force, row?.has_live_key_pair, row?.organizations], [true, true, 1])
  assert.ok(Date.now() - Date.parse(String(row?.last_request_at)) < 60_000)
})

test('the overview counts what there is without counting records, and how agents and copies are', async (t) => {
  const { world, operator } = await someOperator(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const vendor = await world.addVendor([location])
  await vendor.get(`/locations/${location.id}/insurance_plans`)
  await world.pool.query(
    `update dataset_state set synced_at = now(), initial_sync_completed_at = now() where location_id = $1`,
    [location.id],
  )
  await world.addLocation()
  const agent = await world.addAgent(location.organizationId)
  await world.pool.query(`insert into agent_contact values ($1, now() - interval '4 minutes')`, [agent.agentId])

  const overview = read(await operator.get('/operator/overview'))

  assert.equal(overview.environment, 'sandbox')
  assert.deepEqual(overview.counts, {
    companies: 1,
    organizations: 2,
    locations: 2,
    records: 3,
    agents: 3,
    disclosures: 1,
  })
  assert.deepEqual(overview.agents, { connected: 1, silent: 1, never_heard: 1 })
  assert.deepEqual(overview.freshness, { current: 1, stale: 0, disconnected: 0, pending: 1, not_provided: 0 })
  assert.partialDeepStrictEqual(overview.not_current, [{ organization_name: 'Practice', state: 'pending' }])
  assert.equal(overview.removals_held, 0)
  const { version, size_bytes, largest_tables } = overview.database as {
    version: string
    size_bytes: number
    largest_tables: { name: string; size_bytes: number; rows: number }[]
  }
  assert.match(version, /^1[78]/)
  assert.ok(size_bytes > 1_000_000)
  assert.equal(largest_tables.length, 10)
  assert.ok((largest_tables[0]?.size_bytes ?? 0) >= (largest_tables[9]?.size_bytes ?? 0))
})

test('agents are listed with their practice, those first that were never or long not heard', async (t) => {
  const { world, operator } = await someOperator(t)
  const [north, south] = [await world.addOrganization('North Dental'), await world.addOrganization('South Dental')]
  const [never, silent, connected] = [
    await world.addAgent(north),
    await world.addAgent(south),
    await world.addAgent(south),
  ]
  await world.pool.query(
    `insert into agent_contact values ($1, now() - interval '4 minutes'), ($2, now() - interval '1 minute')`,
    [silent.agentId, connected.agentId],
  )

  const rows = await rowsOf(operator, '/operator/agents')
  assert.deepEqual(
    rows.map((row) => [row.id, row.organization_name, row.state]),
    [
      [never.agentId, 'North Dental', 'never_heard'],
      [silent.agentId, 'South Dental', 'silent'],
      [connected.agentId, 'South Dental', 'connected'],
    ],
  )
  assert.equal((await rowsOf(operator, '/operator/agents?search=north')).length, 1)
  const practices = await rowsOf(operator, '/operator/organizations?search=SOUTH')
  assert.deepEqual([practices.length, practices[0]?.agents], [1, 2])
  assert.notEqual(practices[0]?.last_contact_at, null)
})

test('jobs show the work that waits, mail that fails and removals that are held, of all practices', async (t) => {
  const { world, operator } = await someOperator(t)
  const location = await world.addLocation({ organizationId: await world.addOrganization('North Dental') })
  await world.pool.query(
    `insert into rerender_work (location_id, target_dataset, target_source_id, dataset, attempts, last_error)
     values ($1, 'fee_schedules', '7', 'insurance_plans', 0, null), ($1, 'fee_schedules', '8', 'insurance_plans', 4, '57014')`,
    [location.id],
  )
  await world.pool.query(
    `insert into mail (recipient, subject, text_body, attempts, last_error)
     values ('a@example.com', 'A', 'A', 0, null), ('b@example.com', 'B', 'B', 3, 'ECONNREFUSED')`,
  )
  await world.pool.query(
    `with held as (
       insert into removal (location_id, dataset, id, state, list_hash, visible, remaining, held_at)
       values ($1, 'patients', gen_random_uuid(), 'held', 'abc', 3, 3, now())
       returning *)
     insert into removal_record (location_id, dataset, removal_id, source_id)
     select location_id, dataset, id, n from held, generate_series(1, 3) n`,
    [location.id],
  )

  const jobs = read<{ rerendering: Row[]; mail: Row; removals: Row[] }>(await operator.get('/operator/jobs'))

  assert.deepEqual(
    jobs.rerendering.map(({ location_id, dataset, waiting, failing, last_error }) => [
      location_id,
      dataset,
      waiting,
      failing,
      last_error,
    ]),
    [[location.id, 'insurance_plans', 2, 1, '57014']],
  )
  assert.deepEqual([jobs.mail.waiting, jobs.mail.failing, jobs.mail.last_error], [2, 1, 'ECONNREFUSED'])
  assert.deepEqual(
    jobs.removals.map((each) => [
      each.location_name,
      each.organization_name,
      each.dataset,
      each.state,
      each.remaining,
      each.visible,
    ]),
    [['Location', 'North Dental', 'patients', 'held', 3, 3]],
  )
  assert.equal(read<Row>(await operator.get('/operator/overview')).removals_held, 1)
})

test('limits show who syncs now, and which addresses ask for tokens', async (t) => {
  const { world, operator } = await someOperator(t)
  const [a, b] = [await world.addLocation(), await world.addLocation()]
  const vendor = await world.addVendor([a, b])
  const slots = [
    await world.slots.acquire(vendor.companyId, 'initial', a.id),
    await world.slots.acquire(vendor.companyId, 'initial', b.id),
  ]
  const body = JSON.stringify({ client_id: vendor.clientId, client_secret: vendor.clientSecret })
  await world.request('/api/v1/vendors/auth/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })

  const limits = read<{ slots: Row[]; token_attempts: Row[] }>(await operator.get('/operator/limits'))
  await Promise.all(slots.map((slot) => slot.release()))

  assert.deepEqual(limits.slots, [
    {
      company_id: vendor.companyId,
      company_name: 'Vendor',
      sync_type: 'initial',
      location_ids: [a.id, b.id].sort((left, right) => Number(left) - Number(right)),
      max: 5,
    },
  ])
  assert.deepEqual(
    limits.token_attempts.map(({ admitted, max }) => [admitted, max]),
    [[1, 10]],
  )
  assert.deepEqual(read<{ slots: Row[] }>(await operator.get('/operator/limits')).slots, [])
})

test('a new version of the agreement must be the next one, and binds everybody when its grace period ends', async (t) => {
  const { world, operator } = await someOperator(t)
  const vendor = await world.addVendor()
  const publish = (version: number, days: number) =>
    operator.post('/operator/agreements', { version, body: `Text ${version}`, grace_period_days: days })

  for (const version of [1, 3]) {
    const refused = await publish(version, 0)
    assert.deepEqual([refused.status, refused.body.code], [409, 'agreement_version_wrong'])
  }
  read(await publish(2, 30))
  assert.equal((await vendor.get('/organizations')).status, 200)
  const listed = read<{ data: Row[]; companies: number }>(await operator.get('/operator/agreements'))
  assert.deepEqual(
    listed.data.map((each) => [each.version, each.body, each.accepted_by_companies]),
    [
      [2, 'Text 2', 0],
      [1, 'The agreement.', 1],
    ],
  )
  assert.equal(listed.companies, 1)
  const days = (Date.parse(String(listed.data[0]?.enforced_at)) - Date.now()) / 86_400_000
  assert.ok(days > 29.9 && days <= 30, String(days))

  read(await publish(3, 0))
  const denied = await vendor.get('/organizations')
  assert.deepEqual([denied.status, denied.body.code], [403, 'agreement_required'])
  assert.deepEqual(
    (await rowsOf(operator, '/operator/events')).map((event) => event.what),
    [
      'Published version 3 of the agreement, in force at once',
      'Published version 2 of the agreement, required after 30 days',
    ],
  )
})

test('an agreement may have 200,000 characters in any script, and a larger body is refused', async (t) => {
  const { operator } = await someOperator(t)
  const publish = (body: string) => operator.post('/operator/agreements', { version: 2, body, grace_period_days: 30 })
  const refused = await publish('契'.repeat(640 * 1024))
  assert.deepEqual([refused.status, refused.body.code], [413, 'body_too_large'])
  read(await publish('契'.repeat(200_000)))
  const listed = read<{ data: Row[] }>(await operator.get('/operator/agreements'))
  assert.equal(String(listed.data[0]?.body).length, 200_000)
})
