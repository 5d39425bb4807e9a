import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parameterRules } from '@bridgework/contract'
import type { ConnectedLocation, FirstCall, LoggedRequest, RequestErrors } from '@bridgework/contract/portal'
import { read } from '../testing/test-company.ts'
import { somePortal } from '../testing/test-portal.ts'

type Listed = { data: LoggedRequest[] }

test('the log says which parameter broke which rule, and holds no value and no name of the caller’s', async (t) => {
  const events: unknown[] = []
  const world = await somePortal(t, { log: (event) => events.push(event) })
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const member = await world.signInAs({ companyId: vendor.companyId }, 'member')
  const [patients, appointments] = ['patients', 'appointments'].map((name) => `/locations/${location.id}/${name}`)
  const since = 'q%5Bfetch_modified_since%5D'
  const broken: [path: string, parameter: string | null, rule: keyof typeof parameterRules][] = [
    [`${patients}?Jane_Doe=1`, null, 'accepted'],
    [`${patients}?items=1&items=Jane`, 'items', 'once'],
    [`${patients}?Jane=%ff`, null, 'encoding'],
    [`${patients}?items=Jane`, 'items', 'whole_number'],
    [`${appointments}?q%5Bpatient_id%5D=Jane`, 'q[patient_id]', 'record_id'],
    [`${patients}?${since}=Jane`, 'q[fetch_modified_since]', 'date_time'],
    [`${patients}?${since}=2199-01-01T00:00:00Z`, 'q[fetch_modified_since]', 'not_future'],
    [
      `${appointments}?q%5Bstarts_from%5D=2026-01-02T00:00:00Z&q%5Bstarts_to%5D=2026-01-01T00:00:00Z`,
      'q[starts_to]',
      'order',
    ],
    ['/changes?after=Jane', 'after', 'cursor'],
    ['/locations?with_attribution_script_install=Jane', 'with_attribution_script_install', 'boolean'],
    [`${patients}?fields%5Bpatient%5D=Jane`, 'fields[patient]', 'names'],
  ]
  assert.deepEqual(broken.map(([, , rule]) => rule).sort(), Object.keys(parameterRules).sort())
  for (const [path] of broken) assert.equal((await vendor.get(path)).body.code, 'parameter_invalid', path)
  await vendor.get(`/locations/${location.id}/patients`)
  await world.usage.flush()

  const { data } = read<Listed>(await member.get(`/companies/${vendor.companyId}/requests?status=4xx`))
  assert.deepEqual(
    data.toReversed().map(({ parameter, rule, rule_meaning }) => [parameter, rule, rule_meaning]),
    broken.map(([, parameter, rule]) => [parameter, rule, parameterRules[rule]]),
  )
  const { rows } = await world.pool.query('select to_jsonb(r)::text as text from vendor_request r')
  assert.equal(rows.length, broken.length + 1)
  for (const text of [...rows.map((row) => row.text), JSON.stringify(events)]) assert.doesNotMatch(text, /Jane|2199/)
})

test('errors are grouped by route, status, parameter and rule, with how many, the first and the last', async (t) => {
  const begin = Date.now()
  const after = (minutes: number) => new Date(begin + minutes * 60_000).toISOString()
  const clock = { now: new Date(begin) }
  const world = await somePortal(t, { now: () => clock.now })
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const member = await world.signInAs({ companyId: vendor.companyId }, 'member')
  const path = `/locations/${location.id}/patients`
  for (const query of ['?items=a', '?items=b', '?after=x', '']) {
    await vendor.get(`${path}${query}`)
    await world.usage.flush()
    clock.now = new Date(clock.now.getTime() + 60_000)
  }
  const errors = `/companies/${vendor.companyId}/request_errors`

  const { data } = read<{ data: RequestErrors[] }>(await member.get(errors))
  const route = '/locations/:location_id/patients'
  assert.deepEqual(
    data.map((each) => [
      each.route,
      each.status,
      each.parameter,
      each.rule,
      each.requests,
      each.first_at,
      each.last_at,
    ]),
    [
      [route, 422, 'items', 'whole_number', 2, after(0), after(1)],
      [route, 422, 'after', 'whole_number', 1, after(2), after(2)],
    ],
  )
  const some = read<{ data: RequestErrors[] }>(await member.get(`${errors}?since=${after(1)}&parameter=items`))
  assert.deepEqual(
    some.data.map(({ requests }) => requests),
    [1],
  )
  assert.equal((await member.get(`${errors}?outcome=ok`)).status, 422)
})

test('requests are filtered by practice, and the id of a practice without a grant tells nothing', async (t) => {
  const world = await somePortal(t)
  const [own, other, denied] = [await world.addLocation(), await world.addLocation(), await world.addLocation()]
  const vendor = await world.addVendor([own, other])
  const member = await world.signInAs({ companyId: vendor.companyId }, 'member')
  for (const { id } of [own, other, denied]) await vendor.get(`/locations/${id}/patients`)
  await world.usage.flush()
  const idsOf = async (query: string) =>
    read<Listed>(await member.get(`/companies/${vendor.companyId}/requests?${query}`)).data.map(
      (each) => each.location_id,
    )

  assert.deepEqual(await idsOf(`organization_id=${own.organizationId}`), [own.id])
  assert.deepEqual(await idsOf(`organization_id=${own.organizationId}&location_id=${other.id}`), [])
  assert.deepEqual(await idsOf(`location_id=${denied.id}`), [denied.id])
  assert.deepEqual(await idsOf(`organization_id=${denied.organizationId}`), [])
  assert.deepEqual(await idsOf('organization_id=x'), [])
  const { data } = read<{ data: { id: string }[] }>(await member.get(`/companies/${vendor.companyId}/practices`))
  assert.deepEqual(data.map(({ id }) => id).sort(), [own.organizationId, other.organizationId].sort())
})

test('a location has its grants, freshness, last requests and the notices of its practice; one without a grant is unknown', async (t) => {
  const world = await somePortal(t)
  const [own, denied] = [await world.addLocation({ insurancePlans: 1 }), await world.addLocation()]
  const vendor = await world.addVendor([own])
  const member = await world.signInAs({ companyId: vendor.companyId }, 'member')
  const { rows } = await world.pool.query(
    `insert into notice (member_id, kind, event, title, body, path, created_at)
     select m.id, 'access', 'grant_given', said.title, 'Body', '/connections', now()
       from membership m, (values ('“Organization” granted you access'), ('“Other” ended your access')) as said (title)
      where m.user_id = $1
     returning id`,
    [member.person.userId],
  )
  await world.pool.query(`update organization set name = 'Organization' where id = $1`, [own.organizationId])
  assert.equal(rows.length, 2)
  await vendor.get(`/locations/${own.id}/insurance_plans`)
  await world.usage.flush()

  const path = `/companies/${vendor.companyId}/locations`
  const page = read<ConnectedLocation>(await member.get(`${path}/${own.id}`))
  assert.deepEqual([page.location.id, page.organization_id], [own.id, own.organizationId])
  assert.ok(page.location.datasets.some(({ dataset }) => dataset === 'insurance_plans'))
  assert.deepEqual(
    page.requests.map((each) => [each.route, each.status]),
    [['/locations/:location_id/insurance_plans', 200]],
  )
  assert.deepEqual(
    page.notices.map(({ title }) => title),
    ['“Organization” granted you access'],
  )
  for (const id of [denied.id, '9', 'x']) {
    const answer = await member.get(`${path}/${id}`)
    assert.deepEqual([answer.status, answer.body.code], [404, 'location_unknown'])
  }
})

test('the sandbox sends a logged request again, and nothing but a read of the vendor API', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation({ insurancePlans: 1 })
  const vendor = await world.addVendor([location])
  const admin = await world.signInAs({ companyId: vendor.companyId }, 'admin')
  const path = `/companies/${vendor.companyId}/requests/again`
  const plans = { route: '/locations/:location_id/insurance_plans', location_id: location.id }

  const again = read<FirstCall>(await admin.post(path, plans))
  assert.equal(again.status, 200)
  assert.equal((JSON.parse(again.body) as { data: unknown[] }).data.length, 1)
  for (const route of ['/auth/token', '/locations/:location_id/patients/:id', '/../x', '/locations/1']) {
    assert.equal((await admin.post(path, { ...plans, route })).status, 422, route)
  }
  for (const wrong of [
    { ...plans, location_id: null },
    { route: '/locations', location_id: location.id },
  ]) {
    assert.equal((await admin.post(path, wrong)).body.code, 'field_invalid')
  }
  const member = await world.signInAs({ companyId: vendor.companyId }, 'member')
  assert.equal((await member.post(path, plans)).body.code, 'role_denied')

  const production = await somePortal(t, { environment: 'production' })
  const other = await production.addVendor()
  const owner = await production.signInAs({ companyId: other.companyId }, 'owner')
  const refused = await owner.post(`/companies/${other.companyId}/requests/again`, {
    route: '/locations',
    location_id: null,
  })
  assert.deepEqual([refused.status, refused.body.code], [404, 'route_unknown'])
})
