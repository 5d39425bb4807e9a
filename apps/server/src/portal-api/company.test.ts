import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { publishAgreement } from '../access/agreement.ts'
import { createCompany } from '../directory/company.ts'
import type { CompanyId } from '../directory/identity.ts'
import type { Answer } from '../test-world.ts'
import { type PortalWorld, type SignedIn, somePortal } from './test-portal.ts'

/** A company that has accepted nothing yet. */
async function newCompany(world: PortalWorld): Promise<{ companyId: CompanyId; path: string }> {
  const { company } = await createCompany(world.pool, {
    name: 'New vendor',
    owner: { email: 'first@example.com', name: 'First' },
  })
  return { companyId: company.id, path: `/companies/${company.id}` }
}

/** What an answer of the portal holds, whatever its type: tests read the members that they expect. */
function read<T>(answer: Answer): T {
  assert.ok(answer.status < 300, answer.text)
  return answer.body as unknown as T
}

async function countOf(world: PortalWorld, table: string): Promise<number> {
  const { rows } = await world.pool.query<{ count: string }>(`select count(*) from ${table}`)
  return Number(rows[0]?.count)
}

async function actionsOf(person: SignedIn, path: string): Promise<[string, string][]> {
  const { data } = read<{ data: { action: string; subject: string }[] }>(await person.get(`${path}/events`))
  return data.map((event) => [event.action, event.subject])
}

async function tokenFor(world: PortalWorld, pair: { client_id: string; client_secret: string }): Promise<Answer> {
  return await world.request('/api/v1/vendors/auth/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(pair),
  })
}

async function someOwner(t: TestContext) {
  const world = await somePortal(t)
  const vendor = await world.addVendor()
  const owner = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  return { world, vendor, owner, path: `/companies/${vendor.companyId}` }
}

test('W01: only the company’s own owner accepts the agreement; whoever else tries leaves no acceptance', async (t) => {
  const world = await somePortal(t)
  const { companyId, path } = await newCompany(world)
  const other = await world.addVendor()
  const before = await countOf(world, 'agreement_acceptance')
  const acceptance = `${path}/agreement/acceptance`

  for (const role of ['admin', 'member'] as const) {
    const person = await world.signInAs({ companyId }, role)
    const refused = await person.post(acceptance, { version: 1 })
    assert.deepEqual([refused.status, refused.body.code], [403, 'role_denied'])
  }
  const stranger = await world.signInAs({ companyId: other.companyId }, 'owner')
  const unknown = await stranger.post(acceptance, { version: 1 })
  assert.deepEqual([unknown.status, unknown.body.code], [404, 'company_unknown'])
  const nobody = await world.request(`/portal/api${acceptance}`, {
    method: 'POST',
    headers: { origin: 'http://localhost', 'content-type': 'application/json' },
    body: '{"version":1}',
  })
  assert.deepEqual([nobody.status, nobody.body.code], [401, 'sign_in_required'])
  assert.equal(await countOf(world, 'agreement_acceptance'), before)

  const owner = await world.signInAs({ companyId }, 'owner')
  const page = read<Record<string, unknown>>(await owner.get(`${path}/agreement`))
  assert.deepEqual(
    [page.current_version, page.accepted_version, page.is_in_force, page.body],
    [1, null, false, 'The agreement.'],
  )
  const old = await owner.post(acceptance, { version: 2 })
  assert.deepEqual([old.status, old.body.code], [409, 'act_refused'])
  const accepted = read<Record<string, unknown>>(await owner.post(acceptance, { version: 1 }))
  assert.deepEqual(
    [accepted.accepted_version, accepted.is_in_force, accepted.required_at, accepted.accepted_by],
    [1, true, null, 'First'],
  )
  assert.equal(await countOf(world, 'agreement_acceptance'), before + 1)
  assert.deepEqual(await actionsOf(owner, path), [['agreement.accept', 'Developer API agreement, version 1']])
})

test('W02: there are no keys before the agreement is accepted, and nothing is left of the try', async (t) => {
  const world = await somePortal(t)
  const { companyId, path } = await newCompany(world)
  const owner = await world.signInAs({ companyId }, 'owner')

  const refused = await owner.post(`${path}/key_pairs`)

  assert.deepEqual([refused.status, refused.body.code], [403, 'agreement_not_accepted'])
  assert.match(refused.body.errors, /^Developer API agreement not accepted/)
  assert.equal(await countOf(world, 'key_pair'), 0)
  assert.deepEqual(await actionsOf(owner, path), [])
})

test('a new version of the agreement asks again, and keys go on working until the day that the page names', async (t) => {
  const { world, vendor, owner, path } = await someOwner(t)
  const enforcedAt = new Date(Date.now() + 86_400_000)
  await publishAgreement(world.pool, { version: 2, body: 'The second.', enforcedAt })

  const page = read<Record<string, unknown>>(await owner.get(`${path}/agreement`))

  assert.deepEqual(
    [page.current_version, page.accepted_version, page.is_in_force, page.required_at, page.body],
    [2, 1, true, enforcedAt.toISOString(), 'The second.'],
  )
  assert.equal((await vendor.get('/organizations')).status, 200)
})

test('W03: an owner whose role was taken away in another tab accepts nothing any more', async (t) => {
  const world = await somePortal(t)
  const { companyId, path } = await newCompany(world)
  const owner = await world.signInAs({ companyId }, 'owner')
  const heir = await world.signInAs({ companyId }, 'admin')
  assert.equal((await owner.get(`${path}/agreement`)).status, 200)
  const { data } = read<{ data: { id: string; is_you: boolean }[] }>(await heir.get(`${path}/members`))
  const member_id = data.find((each) => each.is_you)?.id
  read(await owner.post(`${path}/ownership`, { member_id }))

  const refused = await owner.post(`${path}/agreement/acceptance`, { version: 1 })

  assert.deepEqual([refused.status, refused.body.code], [403, 'role_denied'])
  assert.equal(await countOf(world, 'agreement_acceptance'), 0)
})

test('W24: ownership handed over while the agreement is being accepted ends in one consistent state, with both on record', async (t) => {
  const world = await somePortal(t)
  for (let round = 0; round < 3; round += 1) {
    const { companyId, path } = await newCompany(world)
    const owner = await world.signInAs({ companyId }, 'owner')
    const heir = await world.signInAs({ companyId }, 'member')
    const { data } = read<{ data: { id: string; is_you: boolean }[] }>(await heir.get(`${path}/members`))
    const member_id = data.find((each) => each.is_you)?.id

    const [accepted, handed] = await Promise.all([
      owner.post(`${path}/agreement/acceptance`, { version: 1 }),
      owner.post(`${path}/ownership`, { member_id }),
    ])

    assert.equal(handed.status, 200, handed.text)
    assert.ok(accepted.status === 200 || accepted.body.code === 'role_denied', accepted.text)
    const standing = read<{ accepted_version: number | null; accepted_by: string | null }>(
      await heir.get(`${path}/agreement`),
    )
    const isAccepted = accepted.status === 200
    assert.deepEqual([standing.accepted_version, standing.accepted_by], isAccepted ? [1, 'First'] : [null, null])
    const events = (await actionsOf(heir, path)).map(([action]) => action)
    assert.deepEqual(events.sort(), [...(isAccepted ? ['agreement.accept'] : []), 'company_ownership.transfer'])
    const { rows } = await world.pool.query(`select from member where company_id = $1 and role = 'owner'`, [companyId])
    assert.equal(rows.length, 1)
  }
})

test('W11, W25: the secret of a key pair is in the answer that makes it and nowhere else; the database has its hash alone', async (t) => {
  const world = await somePortal(t)
  const { companyId, path } = await newCompany(world)
  const owner = await world.signInAs({ companyId }, 'owner')
  read(await owner.post(`${path}/agreement/acceptance`, { version: 1 }))

  const made = await owner.post(`${path}/key_pairs`)
  const pair = read<{ client_id: string; client_secret: string }>(made)
  assert.match(pair.client_id, /^bwc_/)
  assert.match(pair.client_secret, /^bws_/)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  assert.equal((await tokenFor(world, pair)).status, 200)

  for (const again of [`${path}/key_pairs`, path, `${path}/events`, `${path}/requests`, `${path}/usage`, '/session']) {
    const { text } = await owner.get(again)
    assert.ok(!text.includes(pair.client_secret) && !text.includes('bws_'), again)
  }
  const second = await owner.post(`${path}/key_pairs`)
  assert.deepEqual([second.status, second.body.code], [409, 'act_refused'])
  assert.ok(!second.text.includes('bws_'))

  const tables = await world.pool.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  for (const { name } of tables.rows) {
    const { rows } = await world.pool.query(`select from ${name} as row where position($1 in row::text) > 0`, [
      pair.client_secret,
    ])
    assert.equal(rows.length, 0, name)
  }
  const { rows } = await world.pool.query<{ secret_hmac: Buffer }>('select secret_hmac from key_pair')
  assert.deepEqual(rows, [{ secret_hmac: world.secretKey.hmac(pair.client_secret) }])
  assert.ok(!JSON.stringify(world.events).includes('bws_'))
})

test('W12: of two clicks on regenerate one makes a new pair, the other one is told so, and both are on record', async (t) => {
  const { world, vendor, owner, path } = await someOwner(t)
  const seen = { client_id: vendor.clientId }

  const answers = await Promise.all([1, 2].map(() => owner.post(`${path}/key_pairs/regeneration`, seen)))

  assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 409])
  const made = answers.find((answer) => answer.status === 200)
  const pair = made?.body as unknown as { client_id: string; client_secret: string }
  const { data } = read<{ data: { client_id: string; state: string }[] }>(await owner.get(`${path}/key_pairs`))
  assert.deepEqual(
    data.map((each) => [each.client_id, each.state]),
    [
      [pair.client_id, 'live'],
      [vendor.clientId, 'revoked'],
    ],
  )
  assert.equal((await tokenFor(world, pair)).status, 200)
  assert.deepEqual((await actionsOf(owner, path)).sort(), [
    ['key_pair.generate', `New key pair ${pair.client_id}, which ended ${vendor.clientId}`],
    ['key_pair.generate', `Refused: ${vendor.clientId} had ended already`],
  ])
})

test('W13: a token of the old pair is refused at once after a regeneration, and after a revocation', async (t) => {
  const { world, vendor, owner, path } = await someOwner(t)
  assert.equal((await vendor.get('/organizations')).status, 200)

  const pair = read<{ client_id: string; client_secret: string }>(
    await owner.post(`${path}/key_pairs/regeneration`, { client_id: vendor.clientId }),
  )
  const refused = await vendor.get('/organizations')
  assert.deepEqual([refused.status, refused.body.code], [401, 'token_invalid'])

  const { token } = (await tokenFor(world, pair)).body
  const ask = () => world.request('/api/v1/vendors/organizations', { headers: { authorization: `Bearer ${token}` } })
  assert.equal((await ask()).status, 200)
  read(await owner.post(`${path}/key_pairs/revocation`, { client_id: pair.client_id }))
  assert.equal((await ask()).status, 401)
  const again = await owner.post(`${path}/key_pairs/revocation`, { client_id: pair.client_id })
  assert.deepEqual([again.status, again.body.code], [409, 'act_refused'])
})

test('W19: the client id of another company’s pair ends nothing', async (t) => {
  const { world, owner, path } = await someOwner(t)
  const other = await world.addVendor()
  for (const act of ['regeneration', 'revocation']) {
    const refused = await owner.post(`${path}/key_pairs/${act}`, { client_id: other.clientId })
    assert.deepEqual([refused.status, refused.body.code], [404, 'thing_unknown'])
  }
  assert.equal((await other.get('/organizations')).status, 200)
})

test('keys say who made and who ended them, and when they were last used; a removed member keeps the name', async (t) => {
  const { world, vendor, owner, path } = await someOwner(t)
  const admin = await world.signInAs({ companyId: vendor.companyId }, 'admin')
  const pair = read<{ client_id: string; client_secret: string }>(
    await admin.post(`${path}/key_pairs/regeneration`, { client_id: vendor.clientId }),
  )
  await tokenFor(world, pair)
  await world.usage.flush()
  const members = read<{ data: { id: string; role: string }[] }>(await owner.get(`${path}/members`))
  const adminId = members.data.find((each) => each.role === 'admin')?.id
  read(await owner.delete(`${path}/members/${adminId}`))

  const { data } = read<{ data: Record<string, unknown>[] }>(await owner.get(`${path}/key_pairs`))

  assert.deepEqual(
    data.map((each) => [each.state, each.created_by, each.revoked_by, each.last_used_at !== null]),
    [
      ['live', 'Person', null, true],
      ['revoked', 'Owner', 'Person', false],
    ],
  )
})

test('a company sees its name, owner, agreement, live pair and connections, and an admin may rename it', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location, await world.addLocation({ organizationId: location.organizationId })])
  const path = `/companies/${vendor.companyId}`
  const admin = await world.signInAs({ companyId: vendor.companyId }, 'admin')
  read(await admin.patch(path, { name: '  Better software ' }))

  const company = read<Record<string, unknown>>(await admin.get(path))

  assert.equal(company.name, 'Better software')
  assert.equal((company.owner as { name: string }).name, 'Owner')
  assert.equal((company.key_pair as { client_id: string }).client_id, vendor.clientId)
  assert.deepEqual(company.connections, { organizations: 1, locations: 2 })
  assert.deepEqual(company.agreement, {
    current_version: 1,
    accepted_version: 1,
    is_in_force: true,
    required_at: null,
  })
  const refused = await admin.patch(path, { name: ' \t' })
  assert.deepEqual([refused.status, refused.body.code], [422, 'field_invalid'])
  assert.deepEqual(await actionsOf(admin, path), [['company.update', 'Name: Better software']])
})

test('the history is searched and turned over page by page, and its total is exact beyond its end too', async (t) => {
  const { owner, path } = await someOwner(t)
  for (let round = 1; round <= 27; round += 1) read(await owner.patch(path, { name: `Name_${round}` }))
  const list = async (query: string) => {
    const { data, total } = read<{ data: { subject: string }[]; total: number }>(
      await owner.get(`${path}/events?${query}`),
    )
    return [total, data.length, data[0]?.subject]
  }
  assert.deepEqual(await list(''), [27, 25, 'Name: Name_27'])
  assert.deepEqual(await list('page=2'), [27, 2, 'Name: Name_2'])
  assert.deepEqual(await list('page=3'), [27, 0, undefined])
  assert.deepEqual(await list('search=_2'), [9, 9, 'Name: Name_27'])
  assert.deepEqual(await list('search=%25'), [0, 0, undefined])
  for (const query of ['page=0', 'page=1.5', 'page=-1', `search=${'x'.repeat(101)}`, 'search=%00', 'pages=1']) {
    const refused = await owner.get(`${path}/events?${query}`)
    assert.deepEqual([refused.status, refused.body.code], [422, 'parameter_invalid'], query)
  }
})

test('connections show what each practice opened and how current it is, to that company alone', async (t) => {
  const world = await somePortal(t)
  const [north, south] = [await world.addOrganization('North Dental'), await world.addOrganization('South Dental')]
  const [a, b, c] = [
    await world.addLocation({ organizationId: north, insurancePlans: 1 }),
    await world.addLocation({ organizationId: north }),
    await world.addLocation({ organizationId: south }),
  ]
  const vendor = await world.addVendor(
    [a, c],
    [...datasetNames].filter((name) => /^(insurance_plans|patients)$/.test(name)),
  )
  const other = await world.addVendor([b])
  const member = await world.signInAs({ companyId: vendor.companyId }, 'member')
  type Connections = {
    total: number
    data: { organization_name: string; locations: { id: string; datasets: Record<string, unknown>[] }[] }[]
  }
  const list = async (query = '') =>
    read<Connections>(await member.get(`/companies/${vendor.companyId}/connections${query}`))

  const { total, data } = await list()
  assert.equal(total, 2)
  assert.deepEqual(
    data.map((each) => [each.organization_name, each.locations.map((location) => location.id)]),
    [
      ['North Dental', [a.id]],
      ['South Dental', [c.id]],
    ],
  )
  assert.deepEqual(
    data[0]?.locations[0]?.datasets.map(({ dataset, state, granted_at }) => [dataset, state, typeof granted_at]),
    [
      ['insurance_plans', 'pending', 'string'],
      ['patients', 'pending', 'string'],
    ],
  )
  assert.deepEqual(
    (await list('?search=south')).data.map((each) => each.organization_name),
    ['South Dental'],
  )
  await world.revoke(vendor.companyId, c)
  assert.equal((await list()).total, 1)
  const denied = await member.get(`/companies/${other.companyId}/connections`)
  assert.equal(denied.status, 404)
})

test('usage has a bucket for each part of the range, and the last requests name their ids', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation({ insurancePlans: 2 })
  const vendor = await world.addVendor([location])
  const member = await world.signInAs({ companyId: vendor.companyId }, 'member')
  const page = await vendor.get(`/locations/${location.id}/insurance_plans`)
  await vendor.get('/locations/1')
  await world.usage.flush()
  const path = `/companies/${vendor.companyId}`

  for (const [range, seconds, count] of [
    ['24h', 600, 144],
    ['7d', 3_600, 168],
    ['30d', 14_400, 180],
  ] as const) {
    type Usage = { bucket_seconds: number; totals: object; buckets: { at: string; requests: number }[] }
    const usage = read<Usage>(await member.get(`${path}/usage?range=${range}`))
    assert.deepEqual([usage.bucket_seconds, usage.buckets.length], [seconds, count])
    assert.deepEqual(usage.totals, { requests: 2, records: 2, throttled: 0, errors: 1 })
    assert.equal(
      usage.buckets.reduce((sum, bucket) => sum + bucket.requests, 0),
      2,
    )
    const steps = usage.buckets
      .slice(1)
      .map(({ at }, index) => Date.parse(at) - Date.parse(usage.buckets[index]?.at ?? ''))
    assert.deepEqual([...new Set(steps)], [seconds * 1000])
  }
  assert.equal((await member.get(`${path}/usage?range=1y`)).status, 422)
  const { data } = read<{ data: Record<string, unknown>[] }>(await member.get(`${path}/requests`))
  assert.deepEqual(
    data.map((each) => [each.route, each.location_id, each.status, each.code, each.records]),
    [
      ['/locations/:location_id', null, 404, 'location_unknown', 0],
      ['/locations/:location_id/insurance_plans', location.id, 200, null, 2],
    ],
  )
  assert.equal(data[1]?.request_id, page.body.meta.request_id)
})

test('the first call is a real one: made with the live pair, counted, and only in the sandbox', async (t) => {
  const world = await somePortal(t)
  const vendor = await world.addVendor([await world.addLocation()])
  const admin = await world.signInAs({ companyId: vendor.companyId }, 'admin')
  const path = `/companies/${vendor.companyId}`

  const call = read<{ url: string; status: number; body: string }>(
    await admin.post(`${path}/first_call`, { path: '/locations' }),
  )
  assert.deepEqual([call.url, call.status], ['http://localhost/api/v1/vendors/locations', 200])
  assert.equal((JSON.parse(call.body) as { data: unknown[] }).data.length, 1)
  await world.usage.flush()
  const { data } = read<{ data: { route: string }[] }>(await admin.get(`${path}/requests`))
  assert.deepEqual(
    data.map((each) => each.route),
    ['/locations'],
  )
  const elsewhere = await admin.post(`${path}/first_call`, { path: '/locations/1/patients' })
  assert.equal(elsewhere.status, 422)
  read(await admin.post(`${path}/key_pairs/revocation`, { client_id: vendor.clientId }))
  assert.equal((await admin.post(`${path}/first_call`, { path: '/locations' })).status, 409)
})

test('in production there is no first call', async (t) => {
  const world = await somePortal(t, { environment: 'production' })
  const vendor = await world.addVendor()
  const admin = await world.signInAs({ companyId: vendor.companyId }, 'admin')
  const refused = await admin.post(`/companies/${vendor.companyId}/first_call`, { path: '/locations' })
  assert.deepEqual([refused.status, refused.body.code], [404, 'route_unknown'])
})
