import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { datasets, type ProblemCode, problems, vendorApiPath, vendorProblems } from '@bridgework/contract'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Compile } from 'typebox/schema'
import { createRequestTurns, type RequestTurns } from '../../../modules/throttle/request-turns.ts'
import { type Answer, aPlan, aRecord, aSchedule, someWorld, type TestWorld } from '../../../testing/test-world.ts'
import { assertProblem, eventually, postToken } from '../testing/test-answer.ts'

type Media = {
  schema: object
  'x-itemSchema'?: object
  example?: unknown
  examples?: Record<string, { value: unknown }>
}
type Header = { required?: boolean }
type Response = { description: string; headers: Record<string, Header>; content: Record<string, Media> }
type Parameter = {
  name: string
  in: string
  required?: boolean
  style?: string
  explode?: boolean
  schema: object
  example?: unknown
}
type Operation = {
  operationId: string
  summary: string
  parameters?: Parameter[]
  responses: Record<string, Response>
  'x-problems': ProblemCode[]
  'x-codeSamples': { lang: string; source: string }[]
  'x-not-yet-in-production'?: boolean
}
type Link = { operationId: string; parameters: Record<string, string> }
type OpenApi = {
  openapi: string
  info: { version: string; title: string }
  components: { schemas: Record<string, { enum?: string[]; properties?: { attributes?: object } }> }
  paths: Record<string, Record<string, Operation>>
}

async function documentOf(world: TestWorld): Promise<OpenApi> {
  const answer = await world.request(`${vendorApiPath}/openapi.json`)
  assert.equal(answer.status, 200)
  return resolveShared(answer.body as unknown as OpenApi)
}

/** The document with parameters, responses and headers where they are used. Schemas stay references: the validator follows them. */
function resolveShared(document: OpenApi): OpenApi {
  const resolve = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node
    if (Array.isArray(node)) return node.map(resolve)
    const path = '$ref' in node ? String(node.$ref).split('/').slice(1) : []
    if (path[0] === 'components' && path[1] !== 'schemas')
      return resolve(path.reduce<unknown>((part, key) => Object(part)[key], document))
    return Object.fromEntries(Object.entries(node).map(([key, member]) => [key, resolve(member)]))
  }
  return { ...document, paths: resolve(document.paths) as OpenApi['paths'] }
}

/** The schema and the examples of a response. */
function mediaOf({ content }: Response): Media {
  const media = content['application/json'] ?? content['application/x-ndjson']
  assert.ok(media)
  return media
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Of the record that an answer, or each line of an export, has. */
function recordNameOf(...schemas: readonly (object | undefined)[]): string {
  const [, name = ''] = /schemas\/(?!Pag|Cursor|.*Meta|Export)(\w+)/.exec(JSON.stringify(schemas)) ?? []
  return name
}

const operationsOf = (document: OpenApi) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )

/** Why a value does not fit a documented schema; '' when it does. */
function mismatch(document: OpenApi, schema: object, value: unknown): string {
  // References start at the document's root.
  const [fits, errors] = Compile({ ...schema, components: document.components }).Errors(value)
  return fits ? '' : JSON.stringify(errors.slice(0, 3))
}

test('S12: openapi.json is a valid OpenAPI 3.1 document of version 1.0.0, and needs no token', async (t) => {
  const { body } = await (await someWorld(t)).request(`${vendorApiPath}/openapi.json`)
  const document = body as unknown as OpenApi
  // The schema that the OpenAPI Initiative publishes at the address in its $id.
  const official = JSON.parse(readFileSync(join(import.meta.dirname, 'openapi-3.1.schema.json'), 'utf8'))
  const validator = Compile(official)

  assert.deepEqual(validator.Errors(document)[1], [])
  assert.equal(validator.Check({ ...document, info: { title: 'x' } }), false, 'the schema does refuse')
  assert.match(document.openapi, /^3\.1\./)
  assert.equal(document.info.version, '1.0.0')
  const ids = operationsOf(document).map(({ operation }) => operation.operationId)
  assert.equal(new Set(ids).size, ids.length)
  for (const [, reference] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const target = (reference ?? '').split('/').reduce<unknown>((node, key) => Object(node)[key], document)
    assert.ok(target, `${reference} leads somewhere`)
  }
})

test('the document passes a linter without an error or a warning', async (t) => {
  const world = await someWorld(t, { publicUrl: 'https://api.bridgework.test' })
  const { text } = await world.request(`${vendorApiPath}/openapi.json`)
  const required = ['info-contact', 'tag-description', 'operation-description', 'no-unused-components']
  const examples = ['no-invalid-media-type-examples', 'no-invalid-schema-examples', 'no-invalid-parameter-examples']
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: Object.fromEntries([...required, ...examples].map((rule) => [rule, 'error'])),
  })
  const lint = async (source: string) => {
    const found = await lintFromString({ source, absoluteRef: '/openapi.json', config })
    // What only x-itemSchema refers to, which the linter does not read.
    const others = found.filter(({ message }) => message !== 'Component: "ExportEnd" is never used.')
    return others.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)
  }

  assert.deepEqual(await lint(text), [])
  const planted = text.replace('"summary":"Get one location"', '"sumary":"Get one location"')
  assert.match((await lint(planted)).join(), /sumary/)
})

test('generators find each resource, the error and both 429s under their names, and the codes as a list', async (t) => {
  const world = await someWorld(t)
  const { text, body } = await world.request(`${vendorApiPath}/openapi.json`)
  const { schemas } = (body as unknown as OpenApi).components
  const resources = ['Patient', 'Appointment', 'InsurancePlan', 'FeeSchedule', 'Treatment', 'LedgerTransaction']
  const others = [
    'PatientReferral',
    'Location',
    'Organization',
    'Error',
    'SyncSlotsExceeded',
    'TokenRequestsExceeded',
    'RequestsExceeded',
  ]

  for (const name of [...resources, ...others]) assert.ok(name in schemas, name)
  const codes = Object.keys(vendorProblems).filter((code) => code !== 'sync_slots_exceeded')
  assert.deepEqual(schemas.ErrorCode?.enum, codes)
  for (const name of resources) {
    const uses = text.split(`"$ref":"#/components/schemas/${name}"`).length - 1
    assert.ok(uses >= 1, `${name} is what its operations refer to`)
  }
  const { paths, webhooks } = body as unknown as OpenApi & { webhooks: OpenApi['paths'] }
  const operations = Object.values({ ...paths, ...webhooks }).flatMap((path) => Object.keys(path)).length
  assert.ok(text.length < operations * 6_300, `${text.length} bytes for ${operations} operations`)
})

test('the document says which attributes came later, that values of enumerations may be added, and what stays', async (t) => {
  const world = await someWorld(t)
  const { text, body } = await world.request(`${vendorApiPath}/openapi.json`)
  const { schemas } = (body as unknown as OpenApi).components
  assert.match(JSON.stringify(schemas.Patient), /"x-since":2/)
  assert.match(JSON.stringify(schemas.Appointment), /"x-since":2/)
  assert.doesNotMatch(JSON.stringify(schemas.Treatment), /x-since/)
  for (const name of ['Patient', 'Appointment', 'Treatment', 'LedgerTransaction', 'PatientReferral', 'InsurancePlan'])
    assert.match(JSON.stringify(schemas[name]), /Further values may be added/, name)
  assert.match(text, /No attribute is removed, renamed or given another type/)
})

test('every operation has code samples in curl, TypeScript and Python, and leads to operations that exist', async (t) => {
  const document = await documentOf(await someWorld(t))
  const operations = operationsOf(document)
  const known = new Map(operations.map(({ operation }) => [operation.operationId, operation]))
  for (const { operation } of operations) {
    assert.deepEqual(
      operation['x-codeSamples'].map(({ lang }) => lang),
      ['Shell', 'TypeScript', 'Python'],
    )
    const links = (operation.responses[200] as { links?: Record<string, Link> }).links ?? {}
    if (operation.operationId !== 'locations_sync_status_get') assert.ok(Object.keys(links).length > 0)
    for (const { operationId, parameters } of Object.values(links)) {
      const names = known.get(operationId)?.parameters?.map(({ name }) => name) ?? []
      for (const name of Object.keys(parameters)) assert.ok(names.includes(name), `${operationId} takes ${name}`)
      assert.ok(known.has(operationId), operationId)
    }
  }
})

test('S08: the insurance plans list is documented as specified: name, parameters, form of q, preview', async (t) => {
  const document = await documentOf(await someWorld(t))
  const list = document.paths['/locations/{location_id}/insurance_plans']?.get

  assert.equal(list?.operationId, 'locations_resources_insurance_plans_list')
  assert.equal(list['x-not-yet-in-production'], true)
  const parameters = list.parameters?.map(({ name, in: where, required }) => [name, where, required ?? false])
  assert.deepEqual(parameters, [
    ['after', 'query', false],
    ['items', 'query', false],
    // The deep object form, as it stands in a query.
    ['q[fetch_modified_since]', 'query', false],
    ['fields[insurance_plan]', 'query', false],
    ['location_id', 'path', true],
    // Ours, beside the specification's.
    ['X-Epoch', 'header', false],
  ])
  const appointments = document.paths['/locations/{location_id}/appointments']?.get?.parameters ?? []
  assert.deepEqual(
    appointments.flatMap(({ name }) => (name.includes('[') ? [name] : [])),
    ['q[fetch_modified_since]', 'q[patient_id]', 'q[starts_from]', 'q[starts_to]', 'fields[appointment]'],
  )
  const locations = document.paths['/locations']?.get?.parameters?.map(({ name }) => name)
  assert.deepEqual(locations, ['organization_id', 'with_attribution_script_install', 'page', 'items'])
  assert.ok(['401', '403', '404', '422', '429'].every((status) => status in list.responses))
  assert.ok(
    ['401', '403', '404', '422'].every((status) => status in (document.paths['/locations']?.get?.responses ?? {})),
  )
  const previews = operationsOf(document).filter(({ operation }) => operation['x-not-yet-in-production'])
  assert.deepEqual(
    previews.map(({ operation }) => operation.operationId).sort(),
    datasets.flatMap((dataset) => (dataset.preview ? Object.values(dataset.operationIds) : [])).sort(),
  )
})

test('every example in openapi.json fits the schema beside it, and every response has one', async (t) => {
  const document = await documentOf(await someWorld(t))
  for (const { path, operation } of operationsOf(document)) {
    for (const { name, schema, example } of operation.parameters ?? []) {
      assert.equal(example !== undefined, name.includes('['), name)
      if (example !== undefined) assert.equal(mismatch(document, schema, example), '', `${path} ${name}`)
    }
    for (const [status, response] of Object.entries(operation.responses)) {
      const { schema, 'x-itemSchema': lineSchema, example, examples } = mediaOf(response)
      if (lineSchema)
        for (const line of linesOf(String(example))) assert.equal(mismatch(document, lineSchema, line), '')
      const values = example === undefined ? Object.values(examples ?? {}).map(({ value }) => value) : [example]
      assert.ok(values.length > 0, `${path} ${status} has no example`)
      for (const value of values) assert.equal(mismatch(document, schema, value), '', `${path} ${status}`)
    }
  }
})

test('S05: real answers fit the documented schemas: of every operation each documented status is reached, and no other', async (t) => {
  const requests = createRequestTurns({ waitMs: 20 })
  const world = await someWorld(t, { limits: { initial: 1, incremental: 1 }, trustedProxies: ['127.0.0.1'], requests })
  const document = await documentOf(world)
  const produce = await producers(t, world, requests)
  const seen = new Set<string>()
  for (const { path, method, operation } of operationsOf(document)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const answer = await produce(path, method, Number(status))
      const where = `${method} ${path} ${status}`
      assert.equal(answer.status, Number(status), `${where}: ${answer.text}`)
      const { schema, 'x-itemSchema': lineSchema } = mediaOf(response)
      assert.equal(mismatch(document, schema, lineSchema ? answer.text : answer.body), '', where)
      const lines = lineSchema ? linesOf(answer.text) : []
      if (lineSchema) assert.ok(lines.length > 1, `${where} has records and a last line`)
      for (const line of lines) assert.equal(mismatch(document, lineSchema ?? {}, line), '', where)
      // Which attributes an answer has depends on `fields`, so no schema requires them: without it, all are there.
      const [record] = lineSchema ? lines : [answer.body.data].flat()
      const named = Object(document.components.schemas[recordNameOf(schema, lineSchema)]?.properties?.attributes)
      if (answer.status === 200 && Object.keys(named).length > 0)
        assert.deepEqual(Object.keys(record.attributes).sort(), Object.keys(named.properties).sort(), where)
      for (const [header, { required }] of Object.entries(response.headers)) {
        if (answer.headers.get(header)) seen.add(header)
        else assert.ok(!required, `${where} ${header}`)
      }
      if (answer.status === 200) continue
      const code = (answer.body.code ?? 'sync_slots_exceeded') as ProblemCode
      assert.ok(operation['x-problems'].includes(code), `${where}: ${code} is documented`)
      assertProblem(answer, code)
    }
    const documented = new Set(operation['x-problems'].map((code) => String(problems[code].status)))
    assert.deepEqual(new Set(Object.keys(operation.responses)), documented.add('200'))
  }
  const expected = ['X-Request-Id', 'Retry-After', 'WWW-Authenticate', 'RateLimit', 'RateLimit-Policy']
  for (const header of [...expected, 'X-Next-Fetch-Modified-Since', 'X-Total']) assert.ok(seen.has(header), header)
})

/** Makes an operation answer a status: by what is asked, or by what is broken meanwhile. */
async function producers(t: TestContext, world: TestWorld, requests: RequestTurns) {
  const own = await world.addLocation({ insurancePlans: 2 })
  await own.upload('fee_schedules', { s1: aSchedule(), s2: aSchedule({ name: 'Other', fees: [] }) })
  await own.upload('insurance_plans', { p1: aPlan({ fee_schedule_source_id: 's1' }), p2: aPlan(), p3: null })
  for (const { name } of datasets.slice(2)) await own.upload(name, { r1: aRecord(name), r2: aRecord(name), r3: null })
  const foreign = await world.addLocation()
  const vendor = await world.addVendor([own])
  const disagreeing = await world.addVendor([own])
  await world.ownerPool.query('delete from agreement_acceptance where company_id = $1', [disagreeing.companyId])
  const pair = { client_id: vendor.clientId, client_secret: vendor.clientSecret }
  let from = 0

  const token = async (status: number): Promise<Answer> => {
    from += 1
    const options = { from: `10.0.0.${from}` }
    if (status === 400) return await postToken(world, '{', options)
    if (status === 401) return await postToken(world, { client_id: 'a', client_secret: 'b' }, options)
    if (status === 413) return await postToken(world, 'x'.repeat(20_000), options)
    if (status === 415) return await postToken(world, '', { ...options, headers: { 'content-type': 'text/plain' } })
    if (status === 422) return await postToken(world, {}, options)
    if (status === 429) for (let used = 0; used < 10; used += 1) await postToken(world, {}, options)
    return await postToken(world, pair, options)
  }

  const get = async (path: string, status: number): Promise<Answer> => {
    const dataset = datasets.find(({ name }) => path.includes(name))
    const record = dataset && (await vendor.get(`/locations/${own.id}/${dataset.name}`)).body.data[0]?.id
    const fill = (location: { id: string; organizationId: string }, id = record) =>
      path
        .replace('{location_id}', location.id)
        .replace('{organization_id}', location.organizationId)
        .replace('{id}', id ?? '')
    const hasPlace = path.includes('{location_id}') || path.includes('{organization_id}')
    if (status === 401) return await world.request(vendorApiPath + fill(own))
    if (status === 403) return hasPlace ? await vendor.get(fill(foreign)) : await disagreeing.get(fill(own))
    if (status === 404) {
      if (path.includes('{id}')) return await vendor.get(fill(own, '999999999'))
      return await vendor.get(hasPlace ? fill({ id: '7', organizationId: '7' }) : `${path}?organization_id=7`)
    }
    if (status === 422) return await vendor.get(`${fill(own)}?items=x`)
    if (status === 429) {
      const takesSlot = dataset && !path.includes('{id}')
      if (takesSlot) return await whileAnotherIsInFlight(world, vendor, () => vendor.get(fill(own)))
      const turn = await requests.take(vendor.companyId, 100_000_000)
      return await vendor.get(fill(own)).finally(turn.end)
    }
    return await vendor.get(fill(own))
  }

  return async (path: string, method: string, status: number): Promise<Answer> => {
    if (status !== 500 && status !== 503) return method === 'post' ? await token(status) : await get(path, status)
    // What the database answers when it is broken, and when it is restarted.
    const error = Object.assign(new Error('broken'), { code: status === 500 ? '42P01' : '57P01' })
    const { query } = world.pool
    const broken = t.mock.method(world.pool, 'query', (...statement: [{ name?: string }]) =>
      firstOfRequest.includes(statement[0].name ?? '')
        ? Promise.reject(error)
        : query.apply(world.pool, statement as never),
    )
    try {
      // A page that asks for its permit with a statement of its own.
      const query = datasets.some(({ name }) => path.endsWith(`/${name}`)) ? '?items=200' : ''
      return method === 'post' ? await token(status) : await vendor.get(path.replaceAll(/{\w+}/g, '1') + query)
    } finally {
      broken.mock.restore()
    }
  }
}

/** The statements with which requests begin; those of timers are left alone. */
const firstOfRequest = ['verify-key-pair', 'require-principal', 'permit-read']

/** Holds the company's only slot with a request that waits for a locked table. */
async function whileAnotherIsInFlight<T>(
  world: TestWorld,
  vendor: Awaited<ReturnType<TestWorld['addVendor']>>,
  ask: () => Promise<T>,
): Promise<T> {
  const holding = await world.addLocation({ insurancePlans: 1 })
  await world.grant(vendor.companyId, holding)
  const lock = await world.ownerPool.connect()
  await lock.query('begin; lock table record in access exclusive mode')
  const held = vendor.get(`/locations/${holding.id}/insurance_plans`)
  try {
    const isHeld = async () => (await world.pool.query('select from sync_slot')).rows.length === 1
    await eventually(isHeld, 5_000, 'the slot is taken')
    return await ask()
  } finally {
    await lock.query('rollback')
    lock.release()
    await held
  }
}
