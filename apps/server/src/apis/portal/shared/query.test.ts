import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { type PortalRouteName, portalApiPath, portalRoutes } from '@bridgework/contract/portal'
import { makeMonthsOf } from '../../../modules/disclosure/months.ts'
import { makeMonthsBetween } from '../../../modules/disclosure/testing/test-months.ts'
import type { Answer } from '../../../testing/test-world.ts'
import { type SignedIn, somePortal } from '../testing/test-portal.ts'
import { readSearch, readText } from './query.ts'

test('a text of 100 characters is looked for, a longer one is refused', () => {
  const [fits, long] = ['x'.repeat(100), 'x'.repeat(101)]
  assert.equal(readText({ route: ` ${fits} ` }, 'route'), fits)
  assert.throws(() => readText({ route: long }, 'route'), { code: 'parameter_invalid' })
  assert.equal(readText({ route: ' ' }, 'route'), null)
  assert.equal(readSearch({ search: fits }), fits)
  assert.throws(() => readSearch({ search: long }), { code: 'parameter_invalid' })
})

/** What the parameters of lists and ranges may be given, from harmless to hostile. */
const worst: Record<string, readonly string[]> = {
  search: ['', '%', '_'.repeat(100), '\\', "'; drop table company", '%00', 'a'.repeat(101), '%F0%9F%A6%B7'.repeat(50)],
  person: ['', '%', '_'.repeat(100), '\\', '%00', 'a'.repeat(101)],
  kind: ['', 'people', 'service', 'PEOPLE', 'toString', '__proto__'],
  page: ['', '1', '999999', '1000000', '0', '-1', '1.5', '1e5', '01', '99999999999999999999', 'NaN', '%00'],
  range: ['', '24h', '7d', '30d', '9999d', '0', '__proto__', 'constructor'],
  show: ['', 'verified', 'VERIFIED', 'toString'],
  verified: ['', 'yes', 'no', 'YES', 'toString'],
  state: ['', 'active', 'closed', 'ACTIVE', 'toString'],
  company_id: ['', '1b4e28ba-2fa1-4d2b-883f-0016d3cca427', '0', '%00', 'x'.repeat(1_000)],
  location_id: ['', '1', '9007199254740993', '99999999999999999999', '-1', '%00'],
  dataset: ['', 'patients', 'teeth', 'constructor', '%00'],
  from: ['', '2000-01-01', '2199-12-31', '1999-12-31', '2200-01-01', '9999-99-99', '2026-02-30', '-271821-04-20', '0'],
  to: ['', '2000-01-01', '2199-12-31', '1999-12-31', '2200-01-01', '9999-99-99', '2026-02-30', '+275760-09-13', '0'],
  since: ['', '2000-01-01T00:00:00Z', '2199-12-31T23:59:59.999Z', '2026-02-30T00:00:00Z', '2026-01-01', 'now', '%00'],
  until: ['', '2000-01-01T00:00:00Z', '2199-12-31T23:59:59.999Z', '9999-01-01T00:00:00Z', '0', '%00'],
  outcome: ['', 'ok', 'unauthenticated', 'OK', 'constructor'],
  status: ['', '404', '4xx', '999', 'xxx', '-1', '%00'],
  code: ['', 'no_such_code', 'a'.repeat(101), "'; drop table company"],
  route: ['', '%', 'patients', '_'.repeat(100), 'a'.repeat(101)],
  parameter: ['', 'items', 'q[patient_id]', 'a'.repeat(101), '%00'],
  rule: ['', 'whole_number', 'constructor', 'a'.repeat(101), '%00'],
  organization_id: ['', '1', '9007199254740993', '-1', '%00'],
  client_id: ['', 'bwc_1', 'a'.repeat(101), '%00'],
  request_id: ['', 'x', 'a'.repeat(101), '%00'],
  sort: ['', 'name', '-name', '--name', 'NAME', 'name;', 'constructor', '%00'],
  before: ['', '1', '999999999999999999', '9999999999999999999', '0', '-1', '%00'],
}

/** The values that a query asks for that takes them all at once: the widest range, the last page. */
const widest = {
  since: '2000-01-01T00:00:00Z',
  until: '2199-12-31T00:00:00Z',
  // Matches nothing, so the whole log is read.
  request_id: 'none',
  sort: '-name',
  from: '2000-01-01',
  to: '2199-12-31',
  page: '999999',
  search: 'a',
  person: 'e',
  range: '7d',
  before: '9'.repeat(18),
}

const bytesMax = 1_000_000
const msMax = 5_000

/** A practice of 1,000 locations with six years of disclosures, and every list of it, of a vendor and of a person grown long. */
async function someLongLists(t: TestContext) {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const organization = await world.signInAs({ organizationId: location.organizationId }, 'owner')
  const company = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  const operator = await world.signInAs('operator', 'admin')
  const grow = (text: string, values: unknown[] = []) => world.ownerPool.query(text, values)
  await grow(
    `insert into location (id, organization_id, source_id, name, is_active)
     select n, $1, 'l' || n, 'Location ' || n, true from generate_series(100001, 101000) n`,
    [location.organizationId],
  )
  await grow(
    `insert into attribution_script (location_id, key) select n, 'key ' || n from generate_series(100001, 101000) n`,
  )
  await makeMonthsBetween(world.ownerPool, new Date(Date.now() - 100_000 * 15 * 60_000), new Date())
  await grow(
    `insert into disclosure (disclosed_at, company_id, key_pair_id, location_id, dataset, filters, records, after_id, last_id, request_id, ip)
     select now() - n * interval '15 minutes', $1, gen_random_uuid(), 100001 + n % 1000, ($2::text[])[1 + n % 7], '{}', 1, 0, n, 'r', '203.0.113.9'
       from generate_series(0, 99999) n`,
    [vendor.companyId, datasetNames],
  )
  for (const [side, tenant] of [
    ['organization', location.organizationId],
    ['company', vendor.companyId],
    ['operator', null],
  ]) {
    await grow(
      `insert into audit_event (side, tenant_id, user_id, actor, action, facts)
       select $1, $2, $3, 'Person ' || n, 'company.update', jsonb_build_object('name', 'Company ' || n) from generate_series(1, 20000) n`,
      [side, tenant, organization.person.userId],
    )
  }
  // Seven datasets of each location, granted one by one, and twenty grants more of each in the past.
  await grow(
    `insert into access_grant (id, company_id, organization_id, location_id, dataset, granted_at, granted_by, revoked_at, revoked_by)
     select gen_random_uuid(), $1, $2, 100000 + l, $3, now() - n * interval '1 hour', 'Olga Owner', case when n > 0 then now() - (n - 0.5) * interval '1 hour' end,
            case when n > 0 then 'Olga Owner' end
       from generate_series(1, 1000) l, generate_series(0, 20) n`,
    [vendor.companyId, location.organizationId, 'patients'],
  )
  await grow(
    `insert into access_grant (id, company_id, organization_id, location_id, dataset, granted_at, granted_by)
     select gen_random_uuid(), $1, $2, 100000 + l, dataset, now(), 'Olga Owner' from generate_series(1, 1000) l, unnest($3::text[]) dataset where dataset <> 'patients'`,
    [vendor.companyId, location.organizationId, datasetNames],
  )
  await grow(
    `insert into dataset_state (location_id, dataset, first_stamp, last_stamp, rendering)
     select 100000 + l, dataset, 1, 1, 1 from generate_series(1, 1000) l, unnest($1::text[]) dataset`,
    [datasetNames],
  )
  await grow(
    `insert into dataset_grant (location_id, company_id, dataset, granted_stamp, granted_at)
     select 100000 + l, $1, dataset, 1, now() from generate_series(1, 1000) l, unnest($2::text[]) dataset`,
    [vendor.companyId, datasetNames],
  )
  await grow(
    `insert into membership (id, side, organization_id, email, name, role)
     select gen_random_uuid(), 'organization', $1, n || '@example.com', 'Member ' || n, 'member' from generate_series(1, 499) n`,
    [location.organizationId],
  )
  await grow(
    `insert into agent (id, organization_id, name, key_hmac, secret_key_id, enrolled_at, revoked_at)
     select n, $1, 'Agent ' || n, sha256(n::text::bytea), '', now(), now() from generate_series(500001, 505000) n`,
    [location.organizationId],
  )
  await grow(
    `insert into key_pair (id, company_id, client_id, secret_hmac, secret_key_id, created_at, revoked_at)
     select gen_random_uuid(), $1, 'bwc_' || n, '\\x00', '', now() - interval '1 day', now() from generate_series(1, 5000) n`,
    [vendor.companyId],
  )
  await grow(
    `insert into portal_session (id, user_id, token, expires_at, created_at, updated_at)
     select gen_random_uuid(), $1, 'session ' || n, now() + interval '1 hour', now(), now() from generate_series(1, 5000) n`,
    [organization.person.userId],
  )
  await grow(
    `insert into agreement (version, body, enforced_at) select n, repeat('x', 10000), now() from generate_series(2, 200) n`,
  )
  await grow(
    `insert into vendor_request (company_id, answered_at, request_id, method, route, outcome, status, duration_ms)
     select $1, now() - n * interval '30 seconds', n::text, 'GET', '/locations', 'ok', 200, 1 from generate_series(1, 50000) n`,
    [vendor.companyId],
  )
  await grow(
    `insert into vendor_usage (company_id, bucket_at, requests, durations)
     select $1, to_timestamp(300 * n), 9, array_fill(7, array[35])
       from generate_series((extract(epoch from now()) / 300)::bigint - 8640, (extract(epoch from now()) / 300)::bigint) n`,
    [vendor.companyId],
  )
  await grow(
    `insert into location_hour (location_id, hour_at, reads)
     select 100000 + l, date_trunc('hour', now()) - n * interval '1 hour', n from generate_series(1, 1000) l, generate_series(0, 168) n`,
  )
  await world.ownerPool.query('vacuum analyze')
  const ids: Record<string, string> = {
    organization_id: location.organizationId,
    company_id: vendor.companyId,
    location_id: location.id,
    dataset: 'insurance_plans',
    tenant_id: location.organizationId,
    agent_id: location.agent.agentId,
  }
  const byFirst: Record<string, SignedIn> = { organizations: organization, companies: company, operator }
  const reads = (Object.keys(portalRoutes) as PortalRouteName[]).flatMap((name) => {
    const route = portalRoutes[name]
    const path = route.path.replace(/:(\w+)/g, (_, id: string) => ids[id] ?? '')
    const caller = byFirst[path.split('/')[1] ?? ''] ?? organization
    const query: readonly string[] = 'query' in route ? route.query : []
    const isRead = route.method === 'GET' && world.app.hasRoute({ method: 'GET', url: `${portalApiPath}${route.path}` })
    return isRead ? [{ name, path, query, caller }] : []
  })
  return { vendor, organization, location, reads }
}

function assertSmall(answer: Answer, ms: number, what: string): void {
  assert.ok([200, 404, 422].includes(answer.status), `${what}: ${answer.status} ${answer.text.slice(0, 300)}`)
  assert.ok(answer.text.length <= bytesMax, `${what}: ${answer.text.length} characters`)
  assert.ok(ms < msMax, `${what}: ${Math.round(ms)} ms`)
}

test('no range and no page of any list asks for more than a moment or a megabyte, however long the lists are', async (t) => {
  const { reads, vendor, organization, location } = await someLongLists(t)
  assert.ok(reads.length > 30)
  const tryAt = async (caller: SignedIn, path: string) => {
    const beganAt = performance.now()
    const answer = await caller.get(path)
    assertSmall(answer, performance.now() - beganAt, path.slice(0, 200))
    return answer
  }
  for (const { name, path, query, caller } of reads) {
    // A file is as long as a person asks for; it is sent as it is read, and has tests of its own.
    if (name.startsWith('export')) continue
    const { status } = await tryAt(caller, path)
    assert.notEqual(status, 422, path)
    const all = query.filter((each) => each in widest).map((each) => `${each}=${widest[each as keyof typeof widest]}`)
    assert.equal((await tryAt(caller, `${path}?${all.join('&')}`)).status, status, path)
    for (const each of query) {
      for (const value of worst[each] ?? assert.fail(`no worst values for ${each}`)) {
        const answer = await tryAt(caller, `${path}?${each}=${value}`)
        if (answer.status === 422) assert.ok(answer.body.errors.includes(each), `${path} ${each} ${answer.text}`)
      }
    }
  }

  // What is not paged shows what is live, and then the last of what ended.
  const read = async (name: PortalRouteName) => {
    const { caller, path } = reads.find((each) => each.name === name) ?? assert.fail()
    return ((await caller.get(path)).body as unknown as { data: Record<string, unknown>[] }).data
  }
  const pairs = await read('listKeyPairs')
  assert.deepEqual([pairs.length, pairs[0]?.client_id, pairs[0]?.state], [200, vendor.clientId, 'live'])
  const agents = await read('listAgents')
  assert.equal(agents.length, 500)
  assert.notEqual(agents[0]?.state, 'revoked')
  assert.equal((await read('listSessions')).length, 200)
  const invited = await organization.post(`/tenants/${location.organizationId}/members`, {
    email: 'one-more@example.com',
    name: 'One More',
    role: 'member',
  })
  assert.deepEqual([invited.status, invited.body.code], [409, 'members_exceeded'])
  assert.deepEqual((await read('listAgreements')).map(({ version }) => version).slice(0, 2), [200, 199])
})

test('U+0000 in any text is 422, in a body and in a query', async (t) => {
  const world = await somePortal(t)
  const operator = await world.signInAs('operator', 'admin')
  const answers = [
    await world.postPage('/auth/sign-in/email', { email: 'a\u0000@example.com', password: 'x' }),
    await world.postPage('/auth/sign-in/email', { email: operator.person.email, password: 'a\u0000' }),
    await world.postPage('/auth/reset-password', { token: '\u0000', new_password: 'correct horse battery' }),
    await operator.get('/operator/companies?search=a%00b'),
  ]
  for (const answer of answers) {
    assert.equal(answer.status, 422, answer.text)
    assert.match(answer.body.errors, /contains the character U\+0000/)
  }
})

test('a summary ends today and begins six years ago at most, whatever days are asked for', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const owner = await world.signInAs({ organizationId: location.organizationId }, 'owner')
  const disclose = async (at: string[]) => {
    await makeMonthsOf(world.ownerPool, at)
    await world.ownerPool.query(
      `insert into disclosure (disclosed_at, company_id, key_pair_id, location_id, dataset, filters, records, after_id, last_id, request_id, ip)
       select at::timestamptz, gen_random_uuid(), gen_random_uuid(), $1, 'patients', '{}', 1, 0, 1, 'r', '203.0.113.9' from unnest($2::text[]) at`,
      [location.id, at],
    )
  }
  const path = `/organizations/${location.organizationId}/disclosure_summary`
  type Summary = { days: { day: string }[]; total_reads: number }
  const summarize = async (query: string) => (await owner.get(`${path}${query}`)).body as unknown as Summary
  const yearsAgo = (years: number) => new Date(Date.now() - years * 365 * 86_400_000).toISOString()

  await disclose([yearsAgo(0), yearsAgo(1)])
  const whole = await summarize('')
  assert.equal(whole.total_reads, 2)
  for (const query of ['?to=2199-12-31', '?from=2000-01-01&to=2199-12-31']) {
    assert.deepEqual(await summarize(query), whole, query)
  }
  assert.deepEqual((await summarize('?from=2199-01-01&to=2199-12-31')).days, [])

  await disclose(['2001-01-01T12:00:00Z', yearsAgo(5)])
  assert.equal((await summarize('')).total_reads, 3, 'what is older than six years is left out')
  assert.equal((await summarize('?to=2001-01-02')).total_reads, 1, 'and can be asked for')
})
