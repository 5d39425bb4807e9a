import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { datasetNames, type ProblemCode, vendorApiPath } from '@bridgework/contract'
import { ingestRoutes as contractRoutes, ingestApiPath } from '@bridgework/contract/ingest'
import { portalApiPath, portalPages } from '@bridgework/contract/portal'
import { revokeKeyPair } from '../../modules/credentials/key-pair.ts'
import { suspendCompany } from '../../modules/directory/company.ts'
import { listRoutes } from '../../platform/http/testing/test-routes.ts'
import { type Answer, aPlan, aRecord, aSchedule, someWorld, type VendorRecord } from '../../testing/test-world.ts'
import { assertProblem } from './testing/test-answer.ts'

/** Every route that this test knows how to try. A route that is not here fails the test: say below what it must refuse. */
const directoryRoutes = [
  '/organizations',
  '/organizations/:organization_id',
  '/changes',
  '/locations',
  '/locations/:location_id',
  '/locations/:location_id/sync_status',
]
const datasetRoutes = datasetNames.flatMap((name) => [
  `/locations/:location_id/${name}`,
  `/locations/:location_id/${name}/:id`,
  `/locations/:location_id/${name}/digest`,
  `/locations/:location_id/${name}/export`,
])
const protectedRoutes = [...directoryRoutes, ...datasetRoutes]
const ingestRoutes = Object.values(contractRoutes).map(({ method, path }) => `${method} ${ingestApiPath}${path}`)
const openRoutes = [
  'GET /',
  'GET /healthz',
  'GET /readyz',
  'GET /metrics',
  'GET /.well-known/jwks.json',
  `GET ${vendorApiPath}/openapi.json`,
  `POST ${vendorApiPath}/auth/token`,
  'GET /docs/',
  'GET /docs/json',
  'GET /docs/yaml',
]
// Without a token too, with tests of their own.
const websiteRoutes = ['GET /attribution/:script', 'POST /attribution/:script']
const isPortalRoute = (route: string) => route.includes(portalApiPath)
// The same for everybody: a document, and the files that it loads.
const pageRoutes = [
  ...portalPages.filter((path) => path !== '/'),
  '/favicon.svg',
  '/verify-disclosures.mjs',
  '/assets/*',
  '/downloads/*',
  '/downloads/SHA256SUMS',
  '/downloads/bridgework-client.tgz',
  '/downloads/bridgework-mcp.tgz',
  '/guides',
  '/guides/*',
  '/guides/assets/*',
  '/llms.txt',
].map((path) => `GET ${path}`)

const marker = 'Foreign-Canary'

/** The record with the name of its practice in an attribute that takes any text. */
function withText(record: Record<string, unknown>, name: string) {
  const attribute = ['last_name', 'provider_name', 'source_name'].find((each) => each in record)
  return { ...record, [attribute ?? '']: name }
}

/** One company with one granted location (with and without all datasets), and a practice that granted it nothing. */
async function someMatrix(t: TestContext) {
  const clock = { offsetMs: 0 }
  const world = await someWorld(t, { now: () => new Date(Date.now() + clock.offsetMs) })
  const add = async (name: string) => {
    const location = await world.addLocation({ organizationId: await world.addOrganization(name) })
    await location.upload('insurance_plans', { p: aPlan({ plan_name: name }) })
    await location.upload('fee_schedules', { s: aSchedule({ name }) })
    for (const dataset of datasetNames.slice(2)) {
      const uploaded = await location.upload(dataset, { r: withText(aRecord(dataset), name) })
      assert.equal(uploaded.status, 200, uploaded.text)
    }
    return location
  }
  const [own, foreign, partial] = [await add('Own'), await add(marker), await add('Partial')]
  const vendor = await world.addVendor([own])
  const foreignVendor = await world.addVendor([foreign])
  const recordIdOf = async (reader: typeof vendor, id: string, name: string) =>
    ((await reader.get(`/locations/${id}/${name}`)).body.data[0] as VendorRecord).id
  const recordIds = new Map<string, { own: string; foreign: string }>()
  for (const name of datasetNames) {
    recordIds.set(name, {
      own: await recordIdOf(vendor, own.id, name),
      foreign: await recordIdOf(foreignVendor, foreign.id, name),
    })
  }
  return { world, clock, own, foreign, partial, vendor, recordIds }
}

test('K02: every route of the app is known to this test', async (t) => {
  const { app } = await someWorld(t)
  const known = [
    ...protectedRoutes.flatMap((route) => ['GET', 'HEAD'].map((method) => `${method} ${vendorApiPath}${route}`)),
    `HEAD ${vendorApiPath}/openapi.json`,
    ...ingestRoutes,
    ...openRoutes,
    ...websiteRoutes,
    ...pageRoutes,
    'HEAD /assets/*',
    'HEAD /downloads/*',
    'HEAD /guides/assets/*',
  ]
  assert.deepEqual(
    listRoutes(app)
      .filter((route) => !isPortalRoute(route))
      .toSorted(),
    known.toSorted(),
  )
})

test('K01: every protected route × every credential and id: each refusal is the right one, and no foreign byte leaves', async (t) => {
  const { world, clock, own, foreign, partial, vendor, recordIds } = await someMatrix(t)
  const token = await vendor.token()
  const { companyId } = vendor
  clock.offsetMs = -6 * 3_600_000 - 2_000
  const expired = await world.tokens.issue(companyId, keyPairIn(token))
  clock.offsetMs = 0
  const [withdrawn, paused, disagreeing] = [
    await world.addVendor([own]),
    await world.addVendor([own]),
    await world.addVendor([own]),
  ]
  await revokeKeyPair(world.pool, { companyId: withdrawn.companyId, memberId: null })
  await suspendCompany(world.pool, paused.companyId)
  await world.ownerPool.query('delete from agreement_acceptance where company_id = $1', [disagreeing.companyId])
  const answers: Answer[] = []
  const ask = async (path: string, bearer: string | null, method = 'GET') => {
    const headers: Record<string, string> = bearer === null ? {} : { authorization: `Bearer ${bearer}` }
    const answer = await world.request(vendorApiPath + path, { method, headers })
    answers.push(answer)
    return answer
  }

  for (const route of protectedRoutes) {
    const dataset = /:location_id\/(\w+)/.exec(route)?.[1] ?? ''
    const ids = recordIds.get(dataset)
    const fill = (given: { location?: string; organization?: string; record?: string } = {}) =>
      route
        .replace(':location_id', given.location ?? own.id)
        .replace(':organization_id', given.organization ?? own.organizationId)
        .replace(':id', given.record ?? ids?.own ?? '')
    const refused = async (code: ProblemCode, path: string, bearer: string | null = token, method = 'GET') => {
      const answer = await ask(path, bearer, method)
      assert.equal(answer.body.code, code, `${method} ${path}: ${answer.text}`)
      assertProblem(answer, code)
    }

    const success = await ask(fill(), token)
    assert.equal(success.status, 200, `${route}: ${success.text}`)
    await refused('token_required', fill(), null)
    await refused('token_invalid', fill(), 'nonsense')
    await refused('token_invalid', fill(), expired)
    await refused('token_invalid', fill(), await withdrawn.token())
    await refused('token_invalid', fill(), await paused.token())
    await refused('agreement_required', fill(), await disagreeing.token())
    await refused('parameter_invalid', `${fill()}?foo=1`)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      await refused('method_not_allowed', fill(), token, method)
      await refused('token_required', fill(), null, method)
    }
    if (route.includes(':location_id')) {
      await refused('location_denied', fill({ location: foreign.id }))
      for (const id of ['7', '0', '01', 'abc', '%27%20or%201=1', '9'.repeat(40)]) {
        await refused('location_unknown', fill({ location: id }))
      }
      // No more than that the location is closed, whatever else is wrong.
      await refused('location_denied', `${fill({ location: foreign.id })}?foo=1`)
    }
    if (route.includes(':organization_id')) {
      await refused('organization_denied', fill({ organization: foreign.organizationId }))
      for (const id of ['7', '0', '01', 'abc']) await refused('organization_unknown', fill({ organization: id }))
    }
    if (ids && route.endsWith('/:id')) {
      for (const id of [ids.foreign, '0', '01', 'abc', '9'.repeat(40), '9223372036854775807']) {
        await refused('record_unknown', fill({ record: id }))
      }
    }
    const name = datasetNames.find((each) => each === dataset)
    if (name) {
      const others = datasetNames.filter((each) => each !== name)
      const limited = await world.addVendor([partial], others)
      await refused('dataset_denied', fill({ location: partial.id }), await limited.token())
    }
  }
  assert.ok(answers.length > 20 * protectedRoutes.length)
  for (const answer of answers) assert.equal(answer.text.includes(marker), false)
})

test('a vendor’s token opens nothing of the ingest API, and no open route tells of a practice', async (t) => {
  const { world, own, vendor } = await someMatrix(t)
  for (const route of ingestRoutes.filter((each) => each !== 'POST /ingest/v1/agents')) {
    const [method = '', pattern = ''] = route.split(' ')
    const path = pattern
      .replace(':organization_id', own.organizationId)
      .replace(':location_id', own.id)
      .replace(':dataset', 'insurance_plans')
    for (const authorization of [undefined, `Bearer ${await vendor.token()}`, `Bearer ${vendor.clientSecret}`]) {
      const answer = await world.request(path, {
        method,
        headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
        ...(method === 'POST' ? { body: '{}' } : {}),
      })
      assertProblem(answer, 'agent_key_invalid')
    }
  }
  for (const route of openRoutes.filter((each) => each.startsWith('GET ') && !each.endsWith('*'))) {
    const answer = await world.request(route.slice(4))
    assert.ok(answer.status < 400, `${route}: ${answer.status}`)
    for (const secret of [marker, own.id, own.organizationId, vendor.companyId, vendor.clientId]) {
      assert.equal(answer.text.includes(secret), false, route)
    }
  }
})

function keyPairIn(token: string) {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).cid
}
