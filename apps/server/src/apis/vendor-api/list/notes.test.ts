import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { type DatasetName, datasetNames, datasetsWithNotes, getDataset, limits } from '@bridgework/contract'
import { changeAccess, revokeAccess } from '../../../modules/consent/grant.ts'
import { removeNotesSlice } from '../../../modules/records/removals/note-remover.ts'
import { rerenderSlice } from '../../../modules/records/write/rerenderer.ts'
import { aRecord, type Body, someWorld, type TestVendor } from '../../../testing/test-world.ts'

test('K24: notes reach no page, record, digest, delta, filter, log or metric of a company without them, and end with the grant', async (t) => {
  const { world, location, canary, withNotes, noted, plain } = await somePractice(t)
  const { id } = location

  // Nobody may read notes: none is stored, though the agent sends them.
  await upload(location, withNotes)
  assert.deepEqual(await tablesWith(world.pool, canary), [])
  const before = await everythingOf(plain, id)
  assert.ok(!before.includes(canary))
  const watermarks = await watermarksOf(noted, id)

  // On: the agent is asked for them, and the next delta returns the whole dataset.
  const asked = async () => {
    const headers = { authorization: `Bearer ${location.agent.agentKey}` }
    return (await world.request('/ingest/v1/agents/self', { headers })).body.notes as { dataset: string }[]
  }
  assert.deepEqual(await asked(), [])
  await world.grant(noted.companyId, location, datasetNames, { notes: true })
  assert.deepEqual((await asked()).map(({ dataset }) => dataset).toSorted(), datasetsWithNotes.toSorted())
  await upload(location, withNotes)
  for (const name of datasetsWithNotes) {
    const delta = await noted.get(`/locations/${id}/${name}?q[fetch_modified_since]=${watermarks.get(name)}`)
    assert.equal(delta.body.pagy.total, 3, 'the whole dataset, records without a note included')
    assert.equal(delta.text.split(canary).length - 1, 2, name)
    const first = delta.body.data.find(({ attributes }) => attributes.source_id === '1')
    assert.ok((await noted.get(`/locations/${id}/${name}/${first?.id}`)).text.includes(canary))
  }
  // What a company without them receives has another updated_at, and nothing else.
  assert.equal(undated(await everythingOf(plain, id)), undated(before))
  for (const vendor of [noted, plain]) await assertDigestsFit(vendor, id)

  // A reference that is resolved later, and a removal, show in both.
  await location.upload('patients', { 1002: aRecord('patients') })
  await location.upload('appointments', { 2: null })
  while ((await rerenderSlice(world.pool, world.log)) !== null);
  for (const vendor of [noted, plain]) {
    const { data } = (await vendor.get(`/locations/${id}/appointments`)).body
    const patients = (await vendor.get(`/locations/${id}/patients`)).body.data
    assert.ok(data.every(({ attributes }) => attributes.patient_id === patients[0]?.id))
    assert.deepEqual(
      data.map(({ attributes }) => [attributes.is_hidden, attributes.note !== null]),
      [
        [false, vendor === noted],
        [true, vendor === noted],
        [false, false],
      ],
    )
    const filtered = await vendor.get(`/locations/${id}/treatments?q[patient_id]=${patients[0]?.id}`)
    const starting = await vendor.get(`/locations/${id}/appointments?q[starts_from]=2026-01-01T00:00:00Z`)
    for (const answer of [filtered, starting]) {
      assert.equal(answer.body.data.length, 3)
      assert.equal(answer.text.includes(canary), vendor === noted)
    }
    await assertDigestsFit(vendor, id)
  }
  const kept = await everythingOf(plain, id)
  assert.ok(!kept.includes(canary))

  // Off: with the next request, and the copy loses them with the next delta. The database loses them without the agent.
  const later = await watermarksOf(noted, id)
  await revokeAccess(world.pool, {
    companyId: noted.companyId,
    organizationId: location.organizationId,
    locationIds: [id],
    datasets: 'all',
    notes: true,
    by: 'test',
  })
  assert.deepEqual(await asked(), [])
  assert.ok(!(await everythingOf(noted, id)).includes(canary))
  for (const name of datasetsWithNotes) {
    const delta = await noted.get(`/locations/${id}/${name}?q[fetch_modified_since]=${later.get(name)}`)
    assert.equal(delta.body.pagy.total, 3)
    assert.ok(delta.body.data.every(({ attributes }) => attributes[noteOf(name)] === null))
  }
  assert.deepEqual(await tablesWith(world.pool, canary), ['record'])
  while ((await removeNotesSlice(world.pool, world.log)) !== null);
  assert.deepEqual(await tablesWith(world.pool, canary), [])
  assert.equal(await everythingOf(plain, id), kept, 'not one stamp moved')
  for (const name of datasetsWithNotes) {
    const bare = Object.fromEntries([1, 3].map((key) => [key, aRecord(name)]))
    assert.equal((await location.upload(name, bare)).body.unchanged, 2, 'what the agent sends now is what is stored')
  }

  const told = [JSON.stringify(world.events), (await world.request('/metrics')).text]
  for (const text of told) assert.ok(!text.includes(canary))
})

test('a disclosure says whether its answer could contain notes', async (t) => {
  const { world, location, withNotes, noted, plain } = await somePractice(t)
  await world.grant(noted.companyId, location, datasetNames, { notes: true })
  await upload(location, withNotes)
  const notesOf = async (vendor: TestVendor, path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${await vendor.token()}` }
    const answer = await world.request(`/api/v1/vendors/locations/${location.id}/${path}`, { headers, ...init })
    assert.equal(answer.status, 200, answer.text)
    const { rows } = await world.pool.query('select notes from disclosure order by id desc limit 1')
    return rows[0]?.notes
  }
  const [first] = (await noted.get(`/locations/${location.id}/appointments`)).body.data
  const head = async (vendor: TestVendor) => ({
    method: 'HEAD',
    headers: { authorization: `Bearer ${await vendor.token()}` },
  })
  for (const [path, expected, init] of [
    ['appointments', true],
    ['appointments?fields[appointment]=status,note', true],
    ['appointments?fields[appointment]=status', false],
    ['appointments?q[patient_id]=7', false],
    [`appointments/${first?.id}`, true],
    [`appointments/${first?.id}`, false, await head(noted)],
    ['appointments/digest', true],
    ['appointments/export', true],
    ['fee_schedules', false],
  ] as const) {
    if (path === 'fee_schedules') await location.upload('fee_schedules', { 1: aRecord('fee_schedules') })
    assert.equal(await notesOf(noted, path, init), expected, path)
    if (init === undefined) assert.equal(await notesOf(plain, path), false, path)
  }
})

test('notes that are granted again before all are removed stay, and the agent sends them again', async (t) => {
  const { world, location, canary, withNotes, noted } = await somePractice(t)
  const asked = async () => {
    const headers = { authorization: `Bearer ${location.agent.agentKey}` }
    return (await world.request('/ingest/v1/agents/self', { headers })).text.match(/"notes":\[.*?\]/)?.[0]
  }
  await world.grant(noted.companyId, location, datasetNames, { notes: true })
  await upload(location, withNotes)
  const first = await asked()
  const parties = { companyId: noted.companyId, organizationId: location.organizationId, by: 'test' }
  await changeAccess(world.pool, parties, (now) => now.map((grant) => ({ ...grant, notes: false })))
  await world.grant(noted.companyId, location, datasetNames, { notes: true })

  while ((await removeNotesSlice(world.pool, world.log)) !== null);
  assert.deepEqual(await tablesWith(world.pool, canary), ['record'])
  assert.notEqual(await asked(), first)
})

test('the database takes no note into what every company may read', async (t) => {
  const { world, location, withNotes } = await somePractice(t)
  await upload(location, withNotes)
  for (const name of datasetsWithNotes) {
    const noted = `update record set document = replace(document, '"${noteOf(name)}":null', '"${noteOf(name)}":"x"') where dataset = $1`
    await assert.rejects(world.pool.query(noted, [name]), { constraint: 'record_document_without_notes' }, name)
  }
})

/** A practice with three records of each dataset that has notes, two of which have one, and a company that gets them and one that does not. */
async function somePractice(t: TestContext) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const canary = `Canary${randomBytes(6).toString('hex')}`
  const withNotes = new Map(
    datasetsWithNotes.map((name) => {
      const noted = { ...aRecord(name), [noteOf(name)]: `${canary} "quoted" \\ ${'é'.repeat(300)}` }
      return [name, { 1: noted, 2: noted, 3: aRecord(name) }]
    }),
  )
  const [noted, plain] = [await world.addVendor([location]), await world.addVendor([location])]
  return { world, location, canary, withNotes, noted, plain }
}

type Practice = Awaited<ReturnType<typeof somePractice>>

async function upload({ upload }: Practice['location'], records: Practice['withNotes']): Promise<void> {
  for (const [name, own] of records) {
    const answer = await upload(name, own)
    assert.equal(answer.status, 200, answer.text)
  }
}

function noteOf(name: DatasetName): string {
  return getDataset(name).notes[0] ?? ''
}

/** Every list, record and digest of the datasets with notes that a company may read, without what differs with each request. */
async function everythingOf(vendor: TestVendor, locationId: string): Promise<string> {
  const parts: unknown[] = []
  for (const name of datasetsWithNotes) {
    const path = `/locations/${locationId}/${name}`
    const { data } = (await vendor.get(path)).body
    parts.push(data)
    for (const { id } of data) parts.push((await vendor.get(`${path}/${id}`)).body.data)
  }
  return JSON.stringify(parts)
}

function undated(text: string): string {
  return text.replaceAll(/"updated_at":"[^"]*"/g, '')
}

async function watermarksOf(vendor: TestVendor, locationId: string): Promise<Map<string, string>> {
  const marks = new Map<string, string>()
  for (const name of datasetsWithNotes) {
    const { meta }: Body = (await vendor.get(`/locations/${locationId}/${name}`)).body
    marks.set(name, meta.next_fetch_modified_since)
  }
  return marks
}

/** The digest is of what this company receives, and so tells nothing of what it does not. */
async function assertDigestsFit(vendor: TestVendor, locationId: string): Promise<void> {
  for (const name of datasetsWithNotes) {
    const path = `/locations/${locationId}/${name}`
    const { data } = (await vendor.get(path)).body
    const sum = data.reduce((bits, record) => {
      const text = JSON.stringify(record, (_, value: unknown) => value ?? undefined)
      const hash = createHash('sha256').update(text).digest('hex')
      return bits ^ BigInt(`0x${hash}`)
    }, 0n)
    const [range] = (await vendor.get(`${path}/digest`)).body.data
    assert.ok(data.length < limits.digestRangeRecords)
    assert.equal(range?.attributes.sha256, sum.toString(16).padStart(64, '0'), name)
  }
}

/** The tables of which a row holds this text. */
async function tablesWith(pool: Practice['world']['pool'], text: string): Promise<string[]> {
  const { rows } = await pool.query<{ tablename: string }>(
    `select tablename from pg_tables where schemaname = any(current_schemas(false)) order by tablename`,
  )
  const found: string[] = []
  for (const { tablename } of rows) {
    const { rowCount } = await pool.query(`select from ${tablename} as each where strpos(each::text, $1) > 0 limit 1`, [
      text,
    ])
    if (rowCount) found.push(tablename)
  }
  return found
}
