import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { datasetNames, type ProblemCode } from '@bridgework/contract'
import {
  type Action,
  actions,
  livePath,
  type MemberRole,
  mayDo,
  type PortalRouteName,
  portalApiPath,
  portalBodies,
  portalRoutes,
  rolesOf,
  type Side,
  sides,
  signInRoutes,
} from '@bridgework/contract/portal'
import { listRoutes } from '../../../platform/http/testing/test-routes.ts'
import type { CompanyId, OrganizationId } from '../../../platform/identity/identity.ts'
import type { Answer } from '../../../testing/test-world.ts'
import { type PortalWorld, type SignedIn, somePortal } from '../testing/test-portal.ts'

type Route = {
  name: PortalRouteName
  method: string
  path: string
  action: Action | 'anyone' | 'signed_in'
  /** Whose people it is for; null where no role is asked for. */
  side: Side | null
}

/** Somebody who calls: what they may act for, and how. `side` null: for nothing at all. */
type Caller = {
  who: string
  side: Side | null
  role: MemberRole
  /** Of the company or organization whose routes are tried, or of another one. */
  isOwn: boolean
  send: (method: string, path: string, body?: object, headers?: Record<string, string>) => Promise<Answer>
}

/** A parameter that no route takes: it is refused after every gate and before anything is done, so any role may try any route. */
const probe = '?no_such_parameter=1'

/** A company and an organization with everybody who may be in them, those of others, and a thing for every id of a path. */
async function someMatrix(t: TestContext, roles: readonly MemberRole[] = rolesOf.company) {
  const world = await somePortal(t)
  const [location, foreign] = [await world.addLocation(), await world.addLocation()]
  const [vendor, other] = [await world.addVendor([location]), await world.addVendor([foreign])]
  const company = { companyId: vendor.companyId }
  const organization = { organizationId: location.organizationId }
  type Place = { companyId: CompanyId } | { organizationId: OrganizationId }
  const join = (who: string, place: Place, side: Side, role: MemberRole, isOwn = true) =>
    world.signInAs(place, role).then((person) => ({ who, side, role, isOwn, ...person }))
  const ofOther = await join('owner of another company', { companyId: other.companyId }, 'company', 'owner', false)
  const place = { organizationId: foreign.organizationId }
  const ofForeign = await join('owner of another organization', place, 'organization', 'owner', false)
  const insiders = []
  for (const role of rolesOf.operator.toReversed()) {
    const person = await world.signInAs('operator', role)
    insiders.push({ who: `operator ${role}`, side: 'operator' as const, role, isOwn: true, ...person })
  }
  for (const role of roles) {
    insiders.push(await join(`company ${role}`, company, 'company', role))
    insiders.push(await join(`organization ${role}`, organization, 'organization', role))
  }
  const callers: Caller[] = [nobody(world), await somebody(world), ofOther, ofForeign, ...insiders]
  const idsOf = async (locationOf: typeof location, vendorOf: typeof vendor) => ({
    company_id: vendorOf.companyId,
    organization_id: locationOf.organizationId,
    location_id: locationOf.id,
    agent_id: (await world.addAgent(locationOf.organizationId)).agentId,
    dataset: datasetNames[0] ?? '',
    request_id: await requestOf(world, vendorOf.companyId, locationOf.organizationId),
  })
  return {
    world,
    callers,
    own: await idsOf(location, vendor),
    foreign: await idsOf(foreign, other),
    ofOther,
    ofForeign,
  }
}

/** An open request of a company for access to an organization's data. */
async function requestOf(world: PortalWorld, companyId: CompanyId, organizationId: OrganizationId): Promise<string> {
  const { rows } = await world.pool.query<{ id: string }>(
    `insert into access_request (id, company_id, organization_id, datasets, all_locations, purpose, asked_at, asked_by)
     values (gen_random_uuid(), $1, $2, '{patients}', true, 'Recall', now(), 'Test') returning id`,
    [companyId, organizationId],
  )
  return rows[0]?.id ?? ''
}

function nobody(world: PortalWorld): Caller {
  return {
    who: 'nobody signed in',
    side: null,
    role: 'member',
    isOwn: false,
    send: (method, path) =>
      world.request(`${portalApiPath}${path}`, { method, headers: { origin: 'http://localhost' } }),
  }
}

async function somebody(world: PortalWorld): Promise<Caller> {
  return {
    who: 'signed in with nothing',
    side: null,
    role: 'member',
    isOwn: false,
    ...(await world.signIn(await world.addPerson())),
  }
}

/** The routes that this server answers, all from the contract's table; one of any side is tried as that of each. */
function servedRoutes(world: PortalWorld): Route[] {
  const names = Object.keys(portalRoutes) as PortalRouteName[]
  return names
    .map((name) => ({ name, ...portalRoutes[name] }))
    .filter(({ method, path }) => world.app.hasRoute({ method, url: `${portalApiPath}${path}` }))
    .flatMap((route): Route[] => {
      const { name, method, path, action } = route
      const side = action === 'anyone' || action === 'signed_in' ? null : actions[action].side
      if (!path.includes(':tenant_id')) return [{ name, method, path, action, side }]
      return sides.map((each) => ({
        name,
        method,
        path: path.replace(':tenant_id', tenantIds[each]),
        action,
        side: each,
      }))
    })
}

/** What a path names a tenant by; `fill` puts the ids in. */
const tenantIds = { company: ':company_id', organization: ':organization_id', operator: 'operator' }

function fill(path: string, ids: Record<string, string>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? randomUUID())
}

/** What the table says of a cell: the refusal, or null where the role may. */
function refusalOf({ action, side }: Route, caller: Caller): ProblemCode | null {
  if (action === 'anyone') return null
  if (caller.who === 'nobody signed in') return 'sign_in_required'
  if (action === 'signed_in' || side === null) return null
  if (side === 'operator' && caller.side !== 'operator') return 'role_denied'
  if (side === 'operator') return mayDo(caller.role, action, side) ? null : 'role_denied'
  if (caller.side !== side || !caller.isOwn) return `${side}_unknown`
  return mayDo(caller.role, action, side) ? null : 'role_denied'
}

const statusOf = { sign_in_required: 401, role_denied: 403, company_unknown: 404, organization_unknown: 404 }

/** The routes that some role may use: the operator's side has no owner, so no ownership to transfer. */
function usableRoutes(world: PortalWorld): Route[] {
  return servedRoutes(world).filter(({ action, side }) => {
    if (action === 'anyone' || action === 'signed_in' || side === null) return true
    return rolesOf[side].some((role) => mayDo(role, action, side))
  })
}

/** Who may do what a route does. */
function permitted(route: Route, callers: readonly Caller[]): Caller {
  const caller = callers.findLast((each) => each.who !== 'nobody signed in' && refusalOf(route, each) === null)
  assert.ok(caller, `nobody may ${route.name}`)
  return caller
}

test('R03: every route of the portal is in one of the contract’s two tables, or is the stream of what changed', async (t) => {
  const world = await somePortal(t)
  const inTables = [...Object.values(portalRoutes), ...Object.values(signInRoutes)].map(
    ({ method, path }) => `${method} ${portalApiPath}${path}`,
  )
  const served = listRoutes(world.app).filter((route) => route.includes(portalApiPath))
  assert.deepEqual(
    served.filter((route) => !inTables.includes(route)),
    [`GET ${portalApiPath}${livePath}`],
  )
})

test('R01: every cell of the table of roles and acts is so: who may passes, and who may not gets the exact reason', async (t) => {
  const { world, callers, own } = await someMatrix(t)
  const wrong: string[] = []
  const routes = servedRoutes(world)
  for (const route of routes) {
    const path = `${fill(route.path, own)}${probe}`
    const answers = await Promise.all(callers.map((caller) => caller.send(route.method, path)))
    for (const [index, caller] of callers.entries()) {
      const refusal = refusalOf(route, caller) as keyof typeof statusOf | null
      const expected = refusal === null ? '422 parameter_invalid' : `${statusOf[refusal]} ${refusal}`
      const actual = `${answers[index]?.status} ${answers[index]?.body.code}`
      if (actual !== expected) wrong.push(`${caller.who}: ${route.name}: ${actual}, not ${expected}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(routes.length > 40 && callers.length === 12, `${routes.length} routes, ${callers.length} callers`)
})

test('R02: who may read something gets it: the acts behind the checks know the same roles', async (t) => {
  const { world, callers, own } = await someMatrix(t)
  const wrong: string[] = []
  for (const route of servedRoutes(world).filter(({ method }) => method === 'GET')) {
    const allowed = callers.filter((caller) => refusalOf(route, caller) === null)
    const answers = await Promise.all(allowed.map((caller) => caller.send('GET', fill(route.path, own))))
    for (const [index, { status, body }] of answers.entries()) {
      // A thing that is not there, like a held removal, has another answer than a tenant that is not one's own.
      const isGate = [401, 403].includes(status) || /^(company|organization)_unknown$/.test(body.code)
      if (isGate || status >= 500) wrong.push(`${allowed[index]?.who}: ${route.name}: ${status} ${body.code}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('W06: what changes something takes the CSRF token of its own session, from a page of ours, and is done by no other request', async (t) => {
  const { world, callers, own } = await someMatrix(t, ['owner'])
  const wrong: string[] = []
  const foreignToken = await (await world.signIn(await world.addPerson())).csrfToken()
  for (const route of usableRoutes(world).filter(({ method }) => method !== 'GET')) {
    const path = `${fill(route.path, own)}${probe}`
    const caller = permitted(route, callers)
    const attempt = async (expected: string, headers: Record<string, string>) => {
      const { status, body } = await caller.send(route.method, path, undefined, headers)
      if (`${status} ${body.code}` !== expected) wrong.push(`${route.name}: ${status} ${body.code}, not ${expected}`)
    }
    await attempt('403 origin_denied', { origin: 'https://evil.example' })
    await attempt('403 origin_denied', { origin: 'null' })
    if (route.action === 'anyone') continue
    for (const token of ['', 'x', foreignToken]) await attempt('403 csrf_token_invalid', { 'x-csrf-token': token })
  }
  assert.deepEqual(wrong, [])
})

test('R04: sensitive acts ask for a sign-in of the last ten minutes, and no other does', async (t) => {
  const { world, callers, own } = await someMatrix(t, ['owner'])
  await world.pool.query(`update portal_session set created_at = created_at - interval '11 minutes'`)
  const wrong: string[] = []
  let fresh = 0
  for (const route of usableRoutes(world)) {
    if (route.action === 'anyone' || route.action === 'signed_in') continue
    const isFresh = 'fresh' in actions[route.action]
    const expected = isFresh ? '403 fresh_sign_in_required' : '422 parameter_invalid'
    const caller = permitted(route, callers)
    const { status, body } = await caller.send(route.method, `${fill(route.path, own)}${probe}`)
    if (`${status} ${body.code}` !== expected) wrong.push(`${route.name}: ${status} ${body.code}, not ${expected}`)
    fresh += isFresh ? 1 : 0
  }
  assert.deepEqual(wrong, [])
  assert.ok(fresh > 10, String(fresh))
})

test('R12: a suspended or closed company changes nothing, and its people read on, sign out and keep their own accounts', async (t) => {
  const { world, callers, own } = await someMatrix(t)
  const routes = servedRoutes(world)
  const ofCompany = callers.filter(({ side, isOwn }) => side === 'company' && isOwn)
  const sentences = {
    suspended: 'The company Vendor is suspended, so nothing of it can be changed. Ask the operator why.',
    closed: 'The company Vendor is closed, so nothing of it can be changed.',
  }
  // Too old for sensitive acts: nobody is asked to sign in again for what is refused anyway.
  await world.pool.query(`update portal_session set created_at = created_at - interval '11 minutes'`)
  const wrong: string[] = []
  let refused = 0
  for (const [state, sentence] of Object.entries(sentences)) {
    await world.pool.query('update company set state = $2 where id = $1', [own.company_id, state])
    for (const route of routes.filter(({ side }) => side === 'company' || side === null)) {
      for (const caller of ofCompany.filter((each) => refusalOf(route, each) === null)) {
        const { status, body } = await caller.send(route.method, `${fill(route.path, own)}${probe}`)
        const isAct = route.side === 'company' && route.method !== 'GET' && route.action !== 'notice.read'
        const expected = isAct ? `409 company_closed ${sentence}` : '422 parameter_invalid'
        const actual = isAct ? `${status} ${body.code} ${body.errors}` : `${status} ${body.code}`
        if (actual !== expected) wrong.push(`${state}: ${caller.who}: ${route.name}: ${actual}, not ${expected}`)
        if (isAct) refused += 1
      }
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(refused > 70, String(refused))
  for (const { send } of ofCompany) assert.equal((await send('POST', '/auth/sign-out')).status, 200)
})

test('W05: nothing is changed by a GET, a HEAD or a prefetch: a path that changes something answers them with 405', async (t) => {
  const { world, callers, own } = await someMatrix(t, ['owner'])
  const routes = usableRoutes(world)
  const wrong: string[] = []
  for (const route of routes.filter(({ method }) => method !== 'GET')) {
    const caller = permitted(route, callers)
    const isRead = routes.some(({ method, path }) => method === 'GET' && path === route.path)
    const path = fill(route.path, own)
    const answers = {
      HEAD: await caller.send('HEAD', path),
      ...(!isRead && { GET: await caller.send('GET', path) }),
      ...(!isRead && { prefetch: await caller.send('GET', path, undefined, { 'sec-purpose': 'prefetch' }) }),
    }
    for (const [kind, { status }] of Object.entries(answers)) {
      if (status !== 405) wrong.push(`${kind} ${route.path}: ${status}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('R11: support changes nothing without a reason: each of its acts takes one, and the server asks for it', () => {
  const acts = (Object.keys(portalRoutes) as PortalRouteName[]).filter((name) => {
    const { method, action } = portalRoutes[name]
    // That a notice was read is no act.
    if (action === 'notice.read') return false
    return method !== 'GET' && action in actions && mayDo('support', action as Action, 'operator')
  })
  assert.deepEqual(acts, [
    'beginSupportView',
    'openIncident',
    'updateIncident',
    'createOperatorCompany',
    'setCompanyState',
    'setCompanyVerification',
    'createOperatorOrganization',
    'resetSecondFactor',
  ])
  const bodies = portalBodies as Partial<Record<PortalRouteName, { properties?: object }>>
  for (const name of acts) assert.ok('reason' in (bodies[name]?.properties ?? {}), name)
})

/** What the routes that name a thing of the tenant in their path take, where they take something. */
const bodies: Partial<Record<PortalRouteName, object>> = {
  updateMember: { role: 'admin' },
  confirmRemoval: { list_hash: 'x' },
  rejectRemoval: { list_hash: 'x' },
  updateAttribution: { domains: [], excluded_paths: [] },
  updateLocation: { time_zone: null },
  takeOverLocation: { agent_id: '1' },
  takeOverAgent: { process_id: 'x' },
  listDisclosedRecords: { with_patients: true },
  grantVendorRequest: { datasets: ['patients'], location_ids: null },
  declineVendorRequest: {},
  updateWebhook: { types: ['key'] },
}

test('W19: an id of others is nobody’s within one’s own company, organization and account, in every place of every path', async (t) => {
  const { world, callers, own, foreign, ofOther, ofForeign } = await someMatrix(t, ['owner'])
  const idOf = async (person: SignedIn, tenantId: string) =>
    ((await person.get(`/tenants/${tenantId}/members`)).body.data as unknown as { id: string }[])[0]?.id ?? ''
  const memberIds = {
    company: await idOf(ofOther, foreign.company_id),
    organization: await idOf(ofForeign, foreign.organization_id),
    operator: await idOf(ofOther, foreign.company_id),
  }
  const session = await world.pool.query<{ id: string }>('select id from portal_session where user_id = $1', [
    ofOther.person.userId,
  ])
  const disclosure = await world.ownerPool.query<{ id: string }>(
    `insert into disclosure (company_id, key_pair_id, location_id, dataset, filters, records, record_ids, request_id, ip)
     values ($1, $1, $2, 'patients', '{}', 1, '{1}', 'r', '203.0.113.9')
     returning id`,
    [foreign.company_id, foreign.location_id],
  )
  const webhook = { url: 'https://example.com/', types: ['key'] }
  const added = await ofOther.send('POST', `/companies/${foreign.company_id}/webhooks`, webhook)
  const attempt = await world.ownerPool.query<{ id: string }>(
    `insert into webhook_attempt (endpoint_id, message_id, type, row_id, attempted_at, duration_ms)
     values ($1, gen_random_uuid(), 'test', 'test', now(), 1) returning id`,
    [added.body.id],
  )
  const others = {
    session_id: session.rows[0]?.id ?? '',
    disclosure_id: disclosure.rows[0]?.id ?? '',
    webhook_id: String(added.body.id),
    attempt_id: attempt.rows[0]?.id ?? '',
  }
  const wrong: string[] = []
  let tried = 0
  for (const route of usableRoutes(world)) {
    if (route.path.startsWith('/operator/') || route.action === 'anyone') continue
    const ids = { ...foreign, ...others, member_id: memberIds[route.side ?? 'company'] }
    // A vendor belongs to no practice: each may look at every one. A dataset is no id. The tenant's own place is tried in the table's cells.
    const places = [...route.path.matchAll(/:(\w+)/g)]
      .map(([, name = '']) => name as keyof typeof ids)
      .filter((name) => !['dataset', 'company_id', 'organization_id'].includes(name))
    for (const place of places) {
      for (const id of [ids[place], ids[place].toUpperCase(), '0', '../1', "1' or '1'='1"]) {
        if (id === ids[place].toUpperCase() && /^\d*$/.test(id)) continue
        const path = fill(route.path, { ...own, [place]: encodeURIComponent(id) })
        const { status, body } = await permitted(route, callers).send(route.method, path, bodies[route.name])
        tried += 1
        if (status !== 404) wrong.push(`${route.name} ${place} ${id}: ${status} ${body.code}`)
      }
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(tried >= 30, String(tried))
})
