import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { datasets, vendorApiPath } from '@bridgework/contract'
import pg from 'pg'
import { type TSchema, Type } from 'typebox'
import { Check } from 'typebox/value'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { type Answer, aHeartbeat, someWorld, type TestWorld, toNdjson } from '../../testing/test-world.ts'
import { eventually } from './testing/test-answer.ts'
import { failInEveryWay } from './testing/test-failing-statements.ts'
import { holdInFlight } from './testing/test-in-flight.ts'

test('K10: nothing that a practice uploads and nothing of a query string is in a log event, a metric, an error or Postgres’ log', async (t) => {
  const world = await someWorld(t)
  const canary = `Canary${randomBytes(6).toString('hex')}`
  const postgresLog = await openPostgresLog()
  const location = await world.addLocation({ insurancePlans: 1 })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}`
  const refusals: Answer[] = []
  const answered: Answer[] = []
  const note = (answer: Answer) => void (answer.status < 400 ? answered : refusals).push(answer)

  await uploadEverywhere(world, location, canary, note)
  // What a vendor reads of it, whole and one by one, and with the canary in every part of the address.
  for (const { name } of datasets) {
    const list = await vendor.get(`${path}/${name}`)
    assert.ok(list.text.includes(canary), 'the canary was stored and is served')
    note(list)
    note(await vendor.get(`${path}/${name}/${list.body.data[0]?.id}`))
    note(await vendor.get(`${path}/${name}/${canary}`))
    note(await vendor.get(`/locations/${canary}/${name}`))
  }
  const headers = {
    'user-agent': canary,
    'x-request-id': canary,
    referer: `http://x/${canary}`,
    'x-forwarded-for': canary,
  }
  for (const query of [
    `${canary}=1`,
    `items=${canary}`,
    `after=${canary}`,
    `q[fetch_modified_since]=${canary}`,
    `q[${canary}]=1`,
  ]) {
    // These answers tell the caller what it sent; nobody else learns it.
    await vendor.get(`${path}/insurance_plans?${query}`, headers)
    await vendor.get(`/locations?${query}`, headers)
    await vendor.get(`/${canary}?${query}`, headers)
  }
  for (const authorization of [
    `Bearer ${canary}`,
    `Basic ${canary}`,
    `${canary} ${canary}`,
    `Bearer ${canary}.e30.x`,
  ]) {
    note(await vendor.get('/locations', { authorization }))
    note(await vendor.get('/nowhere', { authorization }))
    note(await world.request('/ingest/v1/agents/self', { headers: { authorization } }))
  }
  note(await signIn(world, canary))

  // The same while the database fails in the ways in which it likes to tell values.
  for (const table of ['record', 'disclosure', 'dataset_state']) {
    await world.ownerPool.query(`alter table ${table} rename to away`)
    note(await vendor.get(`${path}/insurance_plans`))
    await uploadEverywhere(world, location, `${canary}x`, note)
    await world.ownerPool.query(`alter table away rename to ${table}`)
  }
  const refuse = `check (document not like '%${canary}refuse%')`
  await world.ownerPool.query(`alter table record add constraint no_canary ${refuse}`)
  await uploadEverywhere(world, location, `${canary}refuse`, note)
  await world.ownerPool.query('alter table record drop constraint no_canary')
  {
    await using inFlight = await holdInFlight(world, [() => vendor.get(`${path}/insurance_plans`)], 1)
    const endWaiting =
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    // A slot is taken before its request has sent the statement that waits.
    await eventually(
      async () => (await world.pool.query(endWaiting)).rowCount === 1,
      10_000,
      'the read waits and its session is ended',
    )
    for (const answer of await inFlight.release()) note(answer)
  }
  // An upload that is ended while its statement holds every value, as one is that takes too long.
  {
    await using inFlight = await holdInFlight(world, [() => vendor.get(`${path}/insurance_plans`)], 1)
    const late = location.upload('patients', { [canary]: markedExample('patients', `${canary} late`) })
    await eventually(() => cancelUpload(world), 10_000, 'the upload waits and is cancelled')
    note(await late)
    await inFlight.release()
  }

  assert.ok(refusals.length > 15, String(refusals.length))
  assert.ok(refusals.some(({ status }) => status >= 500) && refusals.some(({ status }) => status === 422))
  for (const { text, headers: given } of refusals) {
    assert.equal(text.includes(canary), false, text)
    assert.equal(JSON.stringify([...given]).includes(canary), false)
  }
  for (const { headers: given } of answered) assert.equal(JSON.stringify([...given]).includes(canary), false)
  assert.ok(world.events.length > 40)
  for (const event of world.events) assert.equal(JSON.stringify(event).includes(canary), false, JSON.stringify(event))
  const metrics = (await world.request('/metrics')).text
  assert.match(metrics, /bridgework_problems_total\{code="internal"\}/)
  assert.equal(metrics.includes(canary), false)
  const written = postgresLog()
  assert.match(written, /FATAL/, 'this is the log: the ended session is in it')
  assert.equal(written.includes(canary), false)
})

for (const [setting, usual, tells] of [
  ['log_min_messages', 'warning', /ERROR: /],
  ['log_error_verbosity', 'default', /DETAIL: |CONTEXT: /],
  ['log_min_error_statement', 'error', /STATEMENT: /],
] as const) {
  test(`a failing statement tells Postgres’ log no value, and would if ${setting} were what it usually is`, async (t) => {
    const ours = await linesOfFailures(t, {})
    assert.deepEqual(ours, [])
    const usually = await linesOfFailures(t, { log_min_messages: 'warning', [setting]: usual })
    assert.ok(
      usually.some((line) => tells.test(line)),
      'what this test looks at is where such a line would be',
    )
  })
}

/** The lines with a secret that statements leave in the log of a database with these settings. */
async function linesOfFailures(t: TestContext, settings: Record<string, string>): Promise<string[]> {
  const { url } = await createTestDatabase(t)
  for (const [setting, value] of Object.entries(settings)) {
    await asAdmin(`alter database ${new URL(url).pathname.slice(1)} set ${setting} = '${value}'`)
  }
  const secret = `Canary${randomBytes(6).toString('hex')}`
  const postgresLog = await openPostgresLog()
  await failInEveryWay(url, secret)
  const written = postgresLog()
  assert.match(written, /FATAL/)
  return written.split('\n').filter((line) => line.includes(secret))
}

/** Uploads that are taken and uploads that are refused, with the canary in every attribute, key and name. */
async function uploadEverywhere(
  world: TestWorld,
  location: Awaited<ReturnType<TestWorld['addLocation']>>,
  canary: string,
  note: (answer: Answer) => void,
): Promise<void> {
  for (const { name } of datasets) {
    const marked = markedExample(name, canary)
    assert.ok(JSON.stringify(marked).includes(canary))
    note(await location.upload(name, { [`${canary}-${name}`]: marked }))
    note(await location.upload(name, { [`${canary}-${name}`]: { ...marked, [canary]: canary } }))
    for (const attribute of Object.keys(marked)) {
      note(await location.upload(name, { [canary]: { ...marked, [attribute]: { [canary]: canary } } }))
    }
  }
  const { agent } = location
  const post = (dataset: string, body: string) => world.send(agent, location.id, dataset, 1, body)
  note(await post('insurance_plans', canary))
  note(await post('insurance_plans', `{"source_id":"${canary}","attributes":"${canary}"}`))
  note(await post('insurance_plans', `{"source_id":"${canary}\\u0000","removed":true}`))
  note(await post(canary, toNdjson({ [canary]: null })))
  const named = { source_id: canary, name: canary, email: `${canary}@example.com`, phone: canary, website_url: canary }
  note(await world.post(`/organizations/${location.organizationId}/locations`, agent, { locations: [named] }))
  note(await world.post(`/organizations/${location.organizationId}/locations`, agent, { locations: canary }))
  note(await world.confirmReads(agent, location.id, [canary], { read_at: canary }))
  const problem = { code: canary, table: canary, column: canary }
  note(await world.post('/agents/self/heartbeats', agent, { ...aHeartbeat(), state: canary, problems: [problem] }))
  note(await world.sendList(agent, location.id, 'insurance_plans', 1, [canary, canary]))
  note(await world.post(`/locations/${location.id}/insurance_plans/complete_lists`, agent, { [canary]: canary }))
}

/** The contract's example with the canary in every text that may be any text, also where the example has none. */
function markedExample(name: string, canary: string): Record<string, unknown> {
  const { source, example } = datasets.find((dataset) => dataset.name === name) ?? assert.fail(name)
  // An object of the dataset's schema, marked or not.
  return mark(source, example, canary) as Record<string, unknown>
}

function mark(schema: TSchema, value: unknown, canary: string): unknown {
  const marked = markInside(schema, value, canary)
  return Check(schema, marked) ? marked : value
}

function markInside(schema: TSchema, value: unknown, canary: string): unknown {
  if (Type.IsUnion(schema)) {
    const some = schema.anyOf.find((member: TSchema) => !Type.IsNull(member))
    return some && mark(some, value, canary)
  }
  if (Type.IsString(schema)) return canary
  if (Type.IsArray(schema)) return [mark(schema.items, Array.isArray(value) ? value[0] : undefined, canary)]
  if (Type.IsObject(schema)) {
    const members = (value ?? {}) as Record<string, unknown>
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, mark(member, members[name], canary)]),
    )
  }
  return value
}

/** Whether an upload's statement waited, and was cancelled. */
async function cancelUpload(world: TestWorld): Promise<boolean> {
  const { rowCount } = await world.pool.query(
    `select pg_cancel_backend(pid)
       from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query ilike '%source_id%' and query not ilike '%pg_cancel%'`,
  )
  return (rowCount ?? 0) > 0
}

function signIn(world: TestWorld, canary: string): Promise<Answer> {
  return world.request(`${vendorApiPath}/auth/token?${canary}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: canary, client_secret: canary }),
  })
}

/** What Postgres writes to its log from now on, of the one cluster that all tests of a run share. */
async function openPostgresLog(): Promise<() => string> {
  const [row] = await asAdmin('show data_directory')
  // The embedded cluster writes it beside its data.
  const file = join(row?.data_directory ?? '', '../../postgres.log')
  const from = readFileSync(file).length
  return () => readFileSync(file).subarray(from).toString()
}

/** Not in the template: nobody may be there while a test's database is made from it. */
async function asAdmin(sql: string): Promise<Record<string, string>[]> {
  const url = new URL(process.env.BRIDGEWORK_TEST_DATABASE_URL ?? '')
  url.pathname = '/postgres'
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
