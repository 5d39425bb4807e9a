import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { datasets, vendorApiPath } from '@bridgework/contract'
import pg from 'pg'
import { type Answer, someWorld, type TestWorld, toNdjson } from '../test-world.ts'
import { holdInFlight } from './test-in-flight.ts'

test('nothing that a practice uploads and nothing of a query string is in a log event, a metric, an error or Postgres’ log', async (t) => {
  const world = await someWorld(t)
  const canary = `Canary${randomBytes(6).toString('hex')}`
  const postgresLog = await openPostgresLog(t)
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
    await world.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
    for (const answer of await inFlight.release()) note(answer)
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

/** Uploads that are taken and uploads that are refused, with the canary in every attribute, key and name. */
async function uploadEverywhere(
  world: TestWorld,
  location: Awaited<ReturnType<TestWorld['addLocation']>>,
  canary: string,
  note: (answer: Answer) => void,
): Promise<void> {
  for (const { name, example } of datasets) {
    const marked = mark(example, canary)
    note(await location.upload(name, { [`${canary}-${name}`]: marked }))
    note(await location.upload(name, { [`${canary}-${name}`]: { ...marked, [canary]: canary } }))
    for (const attribute of Object.keys(marked)) {
      note(await location.upload(name, { [canary]: { ...marked, [attribute]: { [canary]: canary } } }))
    }
  }
  const agent = await world.addAgent(location.organizationId)
  const post = (dataset: string, body: string) => world.send(agent, location.id, dataset, 1, body)
  note(await post('insurance_plans', canary))
  note(await post('insurance_plans', `{"source_id":"${canary}","attributes":"${canary}"}`))
  note(await post('insurance_plans', `{"source_id":"${canary}\\u0000","removed":true}`))
  note(await post(canary, toNdjson({ [canary]: null })))
  const named = { source_id: canary, name: canary, email: `${canary}@example.com`, phone: canary, website_url: canary }
  note(await world.post(`/organizations/${location.organizationId}/locations`, agent, { locations: [named] }))
  note(await world.post(`/organizations/${location.organizationId}/locations`, agent, { locations: canary }))
  note(
    await world.post(`/locations/${location.id}/insurance_plans/cycles`, agent, { read_at: canary, complete: canary }),
  )
  note(await world.post(`/locations/${location.id}/insurance_plans/reconcile`, agent, { source_ids: [canary, canary] }))
}

/** The example with the canary in every text that may be any text. */
function mark(example: Record<string, unknown>, canary: string): Record<string, unknown> {
  const free = [
    'name',
    'plan_name',
    'group_number',
    'carrier_name',
    'payer_id',
    'employer_name',
    'fee_schedule_source_id',
  ]
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => {
      if (name === 'fees') {
        return [name, [{ procedure_code: canary, amount: '1.00', provider_source_id: canary, effective_on: null }]]
      }
      return [name, free.includes(name) ? `${canary} ${name}` : value]
    }),
  )
}

function signIn(world: TestWorld, canary: string): Promise<Answer> {
  return world.request(`${vendorApiPath}/auth/token?${canary}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: canary, client_secret: canary }),
  })
}

/** What Postgres writes to its log from now on, of the one cluster that all tests of a run share. */
async function openPostgresLog(t: TestContext): Promise<() => string> {
  const client = new pg.Client({ connectionString: process.env.BRIDGEWORK_TEST_DATABASE_URL })
  await client.connect()
  t.after(() => client.end())
  const { rows } = await client.query<{ data_directory: string }>('show data_directory')
  const world = /^.*\/bridgework-test-[^/]+/.exec(rows[0]?.data_directory ?? '')?.[0]
  const file = `${world}/data/postgres.log`
  const from = readFileSync(file).length
  return () => readFileSync(file).subarray(from).toString()
}
