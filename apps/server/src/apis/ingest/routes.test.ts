import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { limits } from '@bridgework/contract'
import { createEnrolmentCode, revokeAgent } from '../../modules/agents/agent-key.ts'
import { aPlan, aSchedule, type Body, someWorld, toNdjson } from '../../testing/test-world.ts'

const plans = (count: number, attributes: object = {}) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `p${index + 1}`,
      aPlan({ plan_name: `Plan ${index + 1}`, ...attributes }),
    ]),
  )

test('an enrolment code becomes an agent key once, and the agent is known by it', async (t) => {
  const world = await someWorld(t)
  const organizationId = await world.addOrganization()
  const { code } = await createEnrolmentCode(world.pool, world.secretKey, { organizationId })
  const enrol = (body: object) => world.post('/agents', { agentKey: '' }, body)

  const first = await enrol({ enrolment_code: code, name: 'Reception', version: '0.1.0' })
  assert.equal(first.status, 201, first.text)
  assert.equal(first.body.organization_id, organizationId)
  assert.equal((await enrol({ enrolment_code: code })).status, 401)
  assert.equal((await enrol({ enrolment_code: `${code.slice(0, -1)}~` })).status, 401)
  assert.equal((await enrol({ code })).status, 422)
  assert.equal((await enrol({ enrolment_code: code, name: 'x'.repeat(300) })).status, 422)
  const self = await world.request('/ingest/v1/agents/self', {
    headers: { authorization: `Bearer ${first.body.agent_key}` },
  })
  assert.deepEqual([self.body.agent_id, self.body.organization_id], [first.body.agent_id, organizationId])
  // Set-up asks who it is. It is heard of when it runs.
  const contacts = () => world.pool.query('select from agent_contact where agent_id = $1', [first.body.agent_id])
  assert.equal((await contacts()).rows.length, 0)
  const beat = { state: 'working', sent_at: new Date().toISOString(), reading: null }
  const agent = { agentKey: String(first.body.agent_key) }
  assert.equal((await world.post('/agents/self/heartbeats', agent, beat)).status, 200)
  assert.equal((await contacts()).rows.length, 1)
})

test('the version that an agent says at a contact is the one that is listed; one that says none keeps it', async (t) => {
  const world = await someWorld(t)
  const { agentId, agentKey } = await world.addAgent(await world.addOrganization())
  const versionAfter = async (userAgent: string) => {
    // A server of its own each time: one writes a contact of an agent at most once in 10 s.
    const { url } = await world.anotherServer()
    const headers = {
      authorization: `Bearer ${agentKey}`,
      'user-agent': userAgent,
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ state: 'working', sent_at: new Date().toISOString(), reading: null })
    const answer = await fetch(`${url}/ingest/v1/agents/self/heartbeats`, { method: 'POST', headers, body })
    assert.equal(answer.status, 200)
    const { rows } = await world.pool.query('select version from agent where id = $1', [agentId])
    return rows[0].version
  }

  assert.equal(await versionAfter('bridgework-agent/0.2.0'), '0.2.0')
  assert.equal(await versionAfter('curl/8.0'), '0.2.0')
  assert.equal(await versionAfter('bridgework-agent/0.3.0-rc.1'), '0.3.0-rc.1')
  assert.equal(await versionAfter(`bridgework-agent/${'9'.repeat(41)}`), '0.3.0-rc.1')
})
test('an agent tells of its locations, and a location that says nothing new is left alone', async (t) => {
  const world = await someWorld(t)
  const organizationId = await world.addOrganization()
  const agent = await world.addAgent(organizationId)
  const unknown = {
    address_line_1: null,
    address_line_2: null,
    city: null,
    state: null,
    postal_code: null,
    country: null,
  }
  const more = {
    phone: null,
    email: null,
    website_url: null,
    time_zone: 'America/New_York',
    currency: 'USD',
    is_active: true,
  }
  const location = {
    source_id: '1',
    name: 'Main Street',
    ...unknown,
    ...more,
    practice_management_system: { name: 'Open Dental', version: '24.3' },
  }
  const tell = (locations: object[]) => world.post(`/organizations/${organizationId}/locations`, agent, { locations })

  const told = await tell([location])
  assert.equal(told.status, 200, told.text)
  assert.deepEqual((told.body.locations as object[]).length, 1)
  assert.deepEqual((await tell([location])).body.locations, told.body.locations)
  assert.equal((await tell([location, location])).status, 422)
  const nul = await tell([{ ...location, name: 'a\u0000b' }])
  assert.deepEqual(
    [nul.status, nul.body.errors],
    [422, 'locations[0].name must be a string of at most 500 characters without NUL.'],
  )
  const other = await world.addOrganization()
  assert.equal((await world.post(`/organizations/${other}/locations`, agent, { locations: [] })).status, 403)

  const hours = (opening: object) => ({ ...location, office_hours: { monday: [opening] } })
  const late = await tell([hours({ opens: '07:00', closes: '24:01' })])
  assert.deepEqual(
    [late.status, late.body.errors],
    [422, 'locations[0].office_hours.monday[0].closes must be a time of day, HH:MM.'],
  )
  assert.equal((await tell([hours({ opens: '07:00', closes: '24:00' })])).status, 200)
  assert.equal((await tell([{ ...location, office_hours: { moonday: [] } }])).status, 422)
  assert.equal((await tell([{ ...location, office_hours: null }])).status, 200)
})

test('G01: a batch is stored whole, with true counts', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()

  const counts = async (records: Record<string, object | null>) =>
    (await location.upload('insurance_plans', records)).body as unknown
  assert.deepEqual(await counts(plans(3)), { inserted: 3, changed: 0, unchanged: 0, hidden: 0 })
  assert.deepEqual(await counts({ p1: aPlan({ plan_name: 'New' }), p2: plans(2).p2 ?? null, p3: null, p4: aPlan() }), {
    inserted: 1,
    changed: 1,
    unchanged: 1,
    hidden: 1,
  })
  assert.deepEqual(await counts({ p3: null, p9: null }), { inserted: 0, changed: 0, unchanged: 2, hidden: 0 })
})

test('G02, G04: the same upload 100 times at once has one effect and one answer', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const agent = await world.addAgent(location.organizationId)

  const send = () => world.send(agent, location.id, 'insurance_plans', 1, toNdjson(plans(20)))
  const answers = await Promise.all(Array.from({ length: 100 }, send))

  // A full queue behind the writers' lock answers 503, and the agent sends again.
  const good = answers.filter((answer) => answer.status === 200)
  assert.ok(good.length > 0)
  for (const answer of answers) assert.ok([200, 503].includes(answer.status), answer.text)
  for (const answer of [...good, await send()])
    assert.deepEqual(answer.body as unknown, { inserted: 20, changed: 0, unchanged: 0, hidden: 0 })
  const { rows } = await world.pool.query('select count(*)::integer as count from record where location_id = $1', [
    location.id,
  ])
  assert.equal(rows[0]?.count, 20)
  const ingested = world.events.filter((event) => event.event === 'records.ingested')
  assert.deepEqual(
    ingested.filter((event) => !event.isRepeated).map((event) => event.changed),
    [20],
    'the log says once that records changed',
  )
  assert.ok(ingested.length > 1 && ingested.every((event) => event.changed === (event.isRepeated ? 0 : 20)))
  const metrics = (await world.request('/metrics')).text
  assert.match(metrics, /bridgework_records_changed_total\{dataset="insurance_plans"\} 20\n/)
})

test('G03: the same Idempotency-Key with another body changes nothing', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const agent = await world.addAgent(location.organizationId)
  await world.send(agent, location.id, 'insurance_plans', 1, toNdjson(plans(1)))

  const reused = await world.send(agent, location.id, 'insurance_plans', 1, toNdjson(plans(2)))
  assert.deepEqual([reused.status, reused.body.errors], [422, 'Idempotency key reused with different content'])
  const { rows } = await world.pool.query('select total from dataset_state where location_id = $1 and dataset = $2', [
    location.id,
    'insurance_plans',
  ])
  assert.equal(rows[0]?.total, '1')
  for (const key of ['', '1', `${agent.agentId}-0`, `${agent.agentId}-x`, '123-1', `${agent.agentId}-1.5`]) {
    const answer = await raw(world, agent, location.id, toNdjson(plans(1)), { 'idempotency-key': key })
    assert.deepEqual([answer.status, answer.body.code], [422, 'idempotency_key_invalid'], key)
  }
})

test('G05: another organization’s location, a wrong key and a revoked key store nothing', async (t) => {
  const world = await someWorld(t)
  const [one, other] = [await world.addLocation(), await world.addLocation()]
  const agent = await world.addAgent(one.organizationId)
  const send = (locationId: string, key = agent.agentKey) =>
    world.send({ ...agent, agentKey: key }, locationId, 'insurance_plans', 1, toNdjson(plans(1)))

  assert.equal((await send(other.id)).status, 403)
  assert.equal((await send('1')).status, 404)
  assert.equal((await send('abc')).status, 404)
  assert.equal((await send(one.id, `${agent.agentKey.slice(0, -2)}xx`)).status, 401)
  assert.equal((await send(one.id, '')).status, 401)
  const unknown = await world.request(`/ingest/v1/locations/${one.id}/x-rays/records`, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent.agentKey}` },
  })
  assert.deepEqual([unknown.status, unknown.body.code], [404, 'dataset_unknown'])
  await revokeAgent(world.pool, agent.agentId)
  assert.equal((await send(one.id)).status, 401)
  const { rows } = await world.pool.query('select from record')
  assert.equal(rows.length, 0)
})

test('G07: one bad line refuses the whole batch, by number, field and rule, without the value', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const records = Object.entries(plans(5000))
  records[4998] = ['bad', aPlan({ group_number: 'Hunter Twosecret'.repeat(50) })]

  const refused = await location.upload('insurance_plans', Object.fromEntries(records))
  assert.deepEqual([refused.status, refused.body.code], [422, 'record_invalid'])
  assert.match(refused.body.errors, /^Line 4999: attributes.group_number must be a string/)
  assert.doesNotMatch(refused.text, /Hunter/)
  assert.doesNotMatch(JSON.stringify(world.events), /Hunter/)
  const { rows } = await world.pool.query('select from record')
  assert.equal(rows.length, 0)
})

test('G08: what is too large, badly packed or of another kind is refused, in bounded memory', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const agent = await world.addAgent(location.organizationId)
  const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
    raw(world, agent, location.id, body, headers)
  const gzip = { 'content-encoding': 'gzip' }

  assert.equal((await send(toNdjson(plans(limits.uploadLinesMax + 1)))).status, 413)
  const bomb = gzipSync(Buffer.alloc(512 * 2 ** 20))
  assert.ok(bomb.length < 2 ** 20)
  const before = process.memoryUsage().rss
  assert.equal((await send(bomb, gzip)).status, 413)
  assert.ok(process.memoryUsage().rss - before < 200 * 2 ** 20)
  assert.equal((await send(Buffer.alloc(limits.uploadBytesMax + 1, 'x'))).status, 413)
  assert.deepEqual(await codes(send('not gzip', gzip)), [400, 'body_malformed'])
  assert.deepEqual(await codes(send(gzipSync('{}').subarray(0, 10), gzip)), [400, 'body_malformed'])
  assert.deepEqual(await codes(send(Buffer.from([0xff, 0xfe]))), [400, 'body_malformed'])
  assert.deepEqual(await codes(send('{}', { 'content-encoding': 'br' })), [415, 'content_encoding_unsupported'])
  assert.deepEqual(await codes(send('{}', { 'content-type': 'application/json' })), [415, 'content_type_unsupported'])
  assert.deepEqual(await codes(send('{}', { 'content-type': 'text/plain' })), [415, 'content_type_unsupported'])
  assert.deepEqual(await codes(send('')), [422, 'record_invalid'])
  assert.equal((await send(toNdjson(plans(1)))).status, 200)
})

test('G09: a reference is only ever to the same location', async (t) => {
  const world = await someWorld(t)
  const organizationId = await world.addOrganization()
  const [one, other] = [await world.addLocation({ organizationId }), await world.addLocation({ organizationId })]
  const vendor = await world.addVendor([one, other])
  await other.upload('fee_schedules', { s1: aSchedule({ name: 'Of the other' }) })
  await one.upload('insurance_plans', { p1: aPlan({ fee_schedule_source_id: 's1' }) })

  const schedule = async () =>
    (await vendor.get(`/locations/${one.id}/insurance_plans`)).body.data[0]?.attributes.fee_schedule.data
  assert.equal(await schedule(), null)
  await one.upload('fee_schedules', { s1: aSchedule({ name: 'Its own' }) })
  assert.equal((await schedule())?.attributes.name, 'Its own')
})

test('G11: hostile text is stored and returned as it is, in one log line each', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const hostile = [
    '=HYPERLINK("http://x")',
    '<script>alert(1)</script>',
    "'; drop table record; --",
    'a\r\nSet-Cookie: x',
    '{{7*7}}',
    'a\u0001\u001bb \\u0000',
    'é😀\u2028',
  ]
  await location.upload(
    'insurance_plans',
    Object.fromEntries(hostile.map((name, index) => [`p${index}`, aPlan({ plan_name: name })])),
  )

  const { body } = await vendor.get(`/locations/${location.id}/insurance_plans`)
  assert.deepEqual(
    body.data.map((plan) => plan.attributes.plan_name),
    hostile,
  )
})

test('G13: what a complete list no longer names is hidden, what arrived since is left alone', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const agent = await world.addAgent(location.organizationId)
  await world.send(agent, location.id, 'insurance_plans', 1, toNdjson(plans(40)))
  const reconcile = (began: number, sourceIds: string[]) =>
    world.sendList(agent, location.id, 'insurance_plans', began, sourceIds)
  const hidden = async () =>
    (await vendor.get(`/locations/${location.id}/insurance_plans`)).body.data
      .filter((plan) => plan.attributes.is_hidden)
      .map((plan) => plan.attributes.source_id)
  const all = Object.keys(plans(40))

  await world.send(agent, location.id, 'insurance_plans', 2, toNdjson({ late: aPlan(), p1: plans(1).p1 ?? null }))
  const answer = await reconcile(2, all.slice(2))
  assert.deepEqual(
    answer.body as unknown,
    { hidden: 1 },
    'p2 alone: p1 was sent again unchanged and `late` written after the list was begun',
  )
  assert.deepEqual(await hidden(), ['p2'])

  const held = await reconcile(3, all.slice(20))
  assert.deepEqual([held.status, held.body.code, held.body.missing, held.body.visible], [409, 'removal_held', 20, 40])
  assert.deepEqual(await hidden(), ['p2'])
  const status = await vendor.get(`/locations/${location.id}/sync_status`)
  const entry = status.body.data.find(({ id }) => id === 'insurance_plans')
  assert.partialDeepStrictEqual(entry?.attributes.removal_held, { missing: 20, visible: 40 })

  assert.deepEqual((await reconcile(3, [...all, 'late'])).body as unknown, { hidden: 0 })
  const released = await vendor.get(`/locations/${location.id}/sync_status`)
  assert.equal(released.body.data.find(({ id }) => id === 'insurance_plans')?.attributes.removal_held, null)
  assert.equal((await reconcile(3, [])).status, 409, 'a list without a record would hide all')
  assert.equal((await reconcile(0, [])).status, 422)
})

test('a finished read moves synced_at, modifies nothing, and ends the initial sync when it was complete', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 1 })
  const vendor = await world.addVendor([location])
  const { agent } = location
  const path = `/locations/${location.id}/insurance_plans`
  const finish = async (read: { read_at: string; complete: boolean }) => {
    const answer = await world.confirmReads(agent, location.id, ['insurance_plans'], read)
    return answer.status === 200 ? answer.body.not_confirmed : answer.status
  }
  const meta = async (): Promise<Body['meta']> => (await vendor.get(path)).body.meta
  const before = await meta()
  assert.deepEqual(before.freshness, { synced_at: null, state: 'pending' })

  const readAt = new Date(Date.now() - 1000).toISOString()
  assert.deepEqual(await finish({ read_at: readAt, complete: false }), [])
  assert.deepEqual((await meta()).freshness, { synced_at: readAt, state: 'pending' })
  await finish({ read_at: readAt, complete: true })
  assert.deepEqual((await meta()).freshness, { synced_at: readAt, state: 'current' })
  assert.equal((await meta()).next_fetch_modified_since, before.next_fetch_modified_since)
  await finish({ read_at: '2020-01-01T00:00:00Z', complete: true })
  assert.equal((await meta()).freshness.synced_at, readAt, 'synced_at never moves back')
  await finish({ read_at: '2100-01-01T00:00:00Z', complete: true })
  const { synced_at: ahead } = (await meta()).freshness
  assert.ok(Date.parse(String(ahead)) <= Date.now() + 1000, 'nor ahead of our clock')
  assert.equal(await finish({ read_at: 'yesterday', complete: true }), 422)
})

test('an ingest path takes no parameters and answers no other method', async (t) => {
  const world = await someWorld(t)
  const agent = await world.addAgent(await world.addOrganization())
  const headers = { authorization: `Bearer ${agent.agentKey}` }

  assert.equal((await world.request('/ingest/v1/agents/self?a=1', { headers })).status, 422)
  const wrong = await world.request('/ingest/v1/agents/self', { headers, method: 'DELETE' })
  assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'GET'])
  assert.equal((await world.request('/ingest/v1/nothing', { headers })).status, 404)
})

async function codes(answer: Promise<{ status: number; body: Body }>): Promise<[number, string]> {
  const { status, body } = await answer
  return [status, body.code]
}

function raw(
  world: Awaited<ReturnType<typeof someWorld>>,
  agent: { agentId: string; agentKey: string },
  locationId: string,
  body: string | Buffer,
  headers: Record<string, string>,
) {
  return world.request(`/ingest/v1/locations/${locationId}/insurance_plans/records`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${agent.agentKey}`,
      'content-type': 'application/x-ndjson',
      'idempotency-key': `${agent.agentId}-77`,
      ...headers,
    },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })
}
