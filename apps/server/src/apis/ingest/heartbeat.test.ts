import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { reasonCodes } from '@bridgework/contract/ingest'
import { listHeartbeats, listProblems } from '../../modules/agents/heartbeat.ts'
import { takeOver } from '../../modules/agents/location-writer.ts'
import { problemWords } from '../../modules/agents/problem-words.ts'
import { aHeartbeat, someWorld, type TestScope } from '../../testing/test-world.ts'

const minuteMs = 60_000

async function someOffice(t: TestScope) {
  const clock = { aheadMs: 0 }
  const world = await someWorld(t, { now: () => new Date(Date.now() + clock.aheadMs) })
  const location = await world.addLocation({ insurancePlans: 1 })
  const vendor = await world.addVendor([location])
  const { agent } = location
  const beat = async (more: object = {}, headers = {}) =>
    await world.post('/agents/self/heartbeats', agent, { ...aHeartbeat(), ...more }, headers)
  const problems = async () =>
    (await listProblems(world.pool, [agent.agentId])).map((each) =>
      [each.code, each.dataset, each.locationId, each.tableName, each.columnName]
        .filter((one) => one !== null)
        .join(' '),
    )
  const freshness = async (dataset: string) =>
    (await vendor.get(`/locations/${location.id}/${dataset}`)).body.meta.freshness
  return { world, clock, location, agent, vendor, beat, problems, freshness }
}

test('one heartbeat confirms every dataset of every location, and answers with all that the next cycle begins with', async (t) => {
  const { world, location, agent } = await someOffice(t)
  const other = await world.addLocation({ organizationId: location.organizationId })
  const { epoch } = (
    await world.request('/ingest/v1/agents/self', { headers: { authorization: `Bearer ${agent.agentKey}` } })
  ).body
  const readAt = new Date(Date.now() - 2_000).toISOString()
  const reads = datasetNames.map((dataset) => {
    return { dataset, read_at: readAt, complete: true, location_ids: [other.id, location.id] }
  })
  const answer = await world.post('/agents/self/heartbeats', agent, { ...aHeartbeat(), confirmed: { epoch, reads } })
  assert.partialDeepStrictEqual(
    answer.body,
    { not_confirmed: [], epoch, agent_id: agent.agentId, notes: [] },
    answer.text,
  )
  const { rows } = await world.pool.query(
    `select synced_at, initial_sync_completed_at is not null as is_complete from dataset_state`,
  )
  assert.equal(rows.length, 2 * datasetNames.length)
  for (const row of rows) assert.deepEqual([row.synced_at.toISOString(), row.is_complete], [readAt, true])
  const activity = await world.pool.query('select reads from sync_activity')
  assert.deepEqual(
    activity.rows.map(({ reads: count }) => count),
    Array.from({ length: 2 * datasetNames.length }, () => 1),
  )
})

test('one heartbeat is enough for a thousand locations, each with a problem', async (t) => {
  const { world, location, agent, freshness } = await someOffice(t)
  const { epoch } = (
    await world.request('/ingest/v1/agents/self', { headers: { authorization: `Bearer ${agent.agentKey}` } })
  ).body
  const others = Array.from({ length: 999 }, (_, index) => String(9_007_199_254_700_000 + index))
  const location_ids = [...others, location.id]
  const reads = datasetNames.flatMap((dataset) =>
    [true, false].map((complete) => ({ dataset, read_at: new Date().toISOString(), complete, location_ids })),
  )
  const problems = location_ids.map((id) => {
    return {
      code: 'records_refused',
      dataset: 'patients',
      location_id: id,
      table: 'x'.repeat(64),
      column: 'y'.repeat(64),
    }
  })
  const body = { ...aHeartbeat(), problems, confirmed: { epoch, reads } }
  const answer = await world.post('/agents/self/heartbeats', agent, body)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(answer.body.not_confirmed, others)
  assert.equal((await freshness('patients')).state, 'current')
})

test('reads of another epoch, or of a location at which another agent writes, or of another practice, are not confirmed', async (t) => {
  const { world, location, agent, freshness } = await someOffice(t)
  const stranger = await world.addLocation()
  const confirmed = async (epoch: string, locationId: string) => {
    const reads = [
      { dataset: 'patients', read_at: new Date().toISOString(), complete: true, location_ids: [locationId] },
    ]
    const answer = await world.post('/agents/self/heartbeats', agent, { ...aHeartbeat(), confirmed: { epoch, reads } })
    return answer.body.not_confirmed as string[]
  }
  const self = async () =>
    (await world.request('/ingest/v1/agents/self', { headers: { authorization: `Bearer ${agent.agentKey}` } })).body
  assert.deepEqual(await confirmed('the one before a restore', location.id), [location.id])
  assert.deepEqual(await confirmed((await self()).epoch as string, stranger.id), [stranger.id])
  assert.deepEqual((await freshness('patients')).synced_at, null)

  const second = await world.addAgent(location.organizationId)
  const to = (agentId: typeof second.agentId) =>
    takeOver(world.pool, { locationId: location.id, organizationId: location.organizationId, agentId })
  const before = (await self()).epoch as string
  await to(second.agentId)
  assert.deepEqual(await confirmed(before, location.id), [location.id])
  await to(agent.agentId)
  assert.deepEqual(await confirmed(before, location.id), [location.id], 'another agent wrote in between')
  assert.deepEqual((await freshness('patients')).synced_at, null)
  assert.deepEqual(await confirmed((await self()).epoch as string, location.id), [])
})

test('a dataset that cannot be read is not current: it goes stale while its neighbours stay current', async (t) => {
  const { world, clock, location, agent, beat, vendor } = await someOffice(t)
  await world.confirmReads(agent, location.id, datasetNames)
  const states = async () => {
    const { data } = (await vendor.get(`/locations/${location.id}/sync_status`)).body
    return Object.fromEntries(data.map(({ id, attributes }) => [id, attributes.state]))
  }
  clock.aheadMs = 16 * minuteMs
  await beat({ problems: [{ code: 'table_damaged', dataset: 'patients', table: 'patient' }] })
  await world.confirmReads(
    agent,
    location.id,
    datasetNames.filter((name) => name !== 'patients'),
    { read_at: new Date(Date.now() + clock.aheadMs).toISOString() },
  )
  await world.ownerPool.query(
    `update dataset_state set synced_at = now() + interval '16 minutes' where dataset <> 'patients'`,
  )
  const { patients, ...others } = await states()
  assert.equal(patients, 'stale')
  assert.deepEqual(new Set(Object.values(others)), new Set(['current']))
})

test('what is wrong keeps its beginning from heartbeat to heartbeat, and what is no longer said is over', async (t) => {
  const { world, clock, agent, beat, problems, location } = await someOffice(t)
  const damaged = { code: 'table_damaged', dataset: 'patients', table: 'patient' }
  const refused = { code: 'records_refused', dataset: 'treatments', location_id: location.id }
  await beat({ problems: [damaged, refused, damaged] })
  assert.deepEqual(
    new Set(await problems()),
    new Set(['table_damaged patients patient', `records_refused treatments ${location.id}`]),
  )
  const [{ since } = assert.fail()] = await listProblems(world.pool, [agent.agentId])

  clock.aheadMs = 5 * minuteMs
  await beat({ problems: undefined, state: 'working', sent_at: new Date(Date.now() + clock.aheadMs).toISOString() })
  assert.equal((await problems()).length, 2, 'in the middle of a cycle nothing is known yet')
  await beat({ problems: [damaged], sent_at: new Date(Date.now() + clock.aheadMs).toISOString() })
  assert.deepEqual(
    (await listProblems(world.pool, [agent.agentId])).map((each) => each.since),
    [since],
  )
  await beat({ sent_at: new Date(Date.now() + clock.aheadMs).toISOString() })
  assert.deepEqual(await problems(), [])
})

test('a clock is off only where the bounds of the round trip leave no doubt, and reads are confirmed by the service’s clock', async (t) => {
  const { world, location, agent, beat, problems, freshness } = await someOffice(t)
  const at = (ms: number) => new Date(Date.now() + ms).toISOString()
  const said = async (sentMs: number, answeredMs: number, serverMs: number) => {
    await beat({ sent_at: at(sentMs), answered: { at: at(answeredMs), server_time: at(serverMs) } })
    return await problems()
  }
  assert.deepEqual(await said(0, 0, 0), [])
  // Three minutes on the way, and a clock that is right.
  assert.deepEqual(await said(-3 * minuteMs, -3 * minuteMs, -3 * minuteMs), [])
  // An answer that took three minutes, and a clock that is right.
  assert.deepEqual(await said(0, 0, -3 * minuteMs), [])
  assert.deepEqual(await said(3 * minuteMs, 3 * minuteMs, 0), ['clock_ahead'])
  assert.deepEqual(await said(-3 * minuteMs, -3 * minuteMs, 0), ['clock_behind'])
  // The clock was set between the two.
  assert.deepEqual(await said(3 * minuteMs, -3 * minuteMs, 0), [])
  // A clock that is an hour behind, and a read a second ago.
  const hourMs = 60 * minuteMs
  const { epoch } = (
    await world.request('/ingest/v1/agents/self', { headers: { authorization: `Bearer ${agent.agentKey}` } })
  ).body
  const answered = { at: at(-hourMs - 5_000), server_time: at(-5_000) }
  const read = { dataset: 'patients', read_at: at(-hourMs - 1_000), complete: true, location_ids: [location.id] }
  await beat({ sent_at: at(-hourMs), answered, confirmed: { epoch, reads: [read] } })
  const { synced_at: syncedAt, state } = await freshness('patients')
  assert.equal(state, 'current')
  assert.ok(Math.abs(Date.parse(String(syncedAt)) - (Date.now() - 1_000)) < 5_000, String(syncedAt))
  assert.deepEqual(await problems(), ['clock_behind'])
})

test('a full disk and an old version are told from what the agent says of itself', async (t) => {
  const { world, beat, problems } = await someOffice(t)
  const agentOf = (version: string) => ({ 'user-agent': `bridgework-agent/${version}` })
  await beat({ disk_free_bytes: 499 * 1024 * 1024 })
  assert.deepEqual(await problems(), ['disk_low'])
  await beat({ disk_free_bytes: 500 * 1024 * 1024 }, agentOf('1.0.0'))
  assert.deepEqual(await problems(), [])
  const publish = (days: number) =>
    world.ownerPool.query(
      `insert into agent_release (version, size, sha256, file, published_at)
       values ('1.1.0', 1, 'x', 'x', now() - $1 * interval '1 day')
           on conflict (version) do update set published_at = excluded.published_at`,
      [days],
    )
  await publish(6)
  await beat({}, agentOf('1.0.0'))
  assert.deepEqual(await problems(), [], 'within a week')
  await publish(8)
  await beat({}, agentOf('1.0.0'))
  assert.deepEqual(await problems(), ['version_old'])
  await beat({}, agentOf('1.1.0'))
  assert.deepEqual(await problems(), [])
})

test('what is read at the moment and how much of it is there until the agent says otherwise', async (t) => {
  const { world, agent, beat } = await someOffice(t)
  const shown = async () => (await listHeartbeats(world.pool, [agent.agentId])).get(agent.agentId)
  await beat({ state: 'working', reading: { dataset: 'patients', rows_read: 1_000, rows_total: 7_873 } })
  assert.partialDeepStrictEqual(await shown(), {
    state: 'working',
    readingDataset: 'patients',
    rowsRead: 1_000,
    rowsTotal: 7_873,
  })
  await beat()
  assert.partialDeepStrictEqual(await shown(), { state: 'idle', readingDataset: null, rowsRead: null })
})

test('a free text, a value or a name that is no identifier is refused, whatever member it is in', async (t) => {
  const { beat, problems } = await someOffice(t)
  const name = 'Anna Smith'
  for (const problem of [
    { code: name },
    { code: 'unreachable', table: name },
    { code: 'unreachable', table: 'patient', column: "LName = 'Smith'" },
    { code: 'unreachable', table: 'x'.repeat(65) },
    { code: 'unreachable', dataset: name },
    { code: 'unreachable', location_id: name },
    { code: 'unreachable', what: name },
  ]) {
    const answer = await beat({ problems: [problem] })
    assert.equal(answer.status, 422, JSON.stringify(problem))
    assert.doesNotMatch(answer.text, /Anna|Smith/)
  }
  for (const more of [
    { state: name },
    { note: name },
    { reading: { dataset: name, rows_read: 1, rows_total: null } },
  ]) {
    assert.equal((await beat(more)).status, 422, JSON.stringify(more))
  }
  assert.deepEqual(await problems(), [])
})

test('every reason has a sentence that says what is wrong and one that says what to do, with the table where one is named', () => {
  for (const code of [...reasonCodes, 'clock_ahead', 'clock_behind', 'disk_low', 'version_old'] as const) {
    const { what, todo } = problemWords({ code, tableName: null, columnName: null })
    for (const sentence of [what, todo]) assert.match(sentence, /^[A-Z][^\n]*\.$/, code)
    assert.doesNotMatch(what + todo, /null|undefined/)
  }
  const { what } = problemWords({ code: 'rights_missing', tableName: 'claimproc', columnName: 'Status' })
  assert.match(what, /may not read the column claimproc\.Status\.$/)
  assert.match(
    problemWords({ code: 'table_damaged', tableName: 'patient', columnName: null }).what,
    /^The table patient /,
  )
  // A connector that reads a database by a mapping has these reasons too, and no files.
  for (const code of ['mapping_invalid', 'file_invalid', 'lines_skipped', 'column_missing'] as const) {
    for (const tableName of [null, 'patients']) {
      const { what, todo } = problemWords({ code, tableName, columnName: null })
      assert.doesNotMatch(what + todo, /\bexport|\bfile|Open Dental/, code)
    }
    const { what } = problemWords({ code, tableName: null, columnName: null, fileName: 'plans.csv', fileLine: 2 })
    if (code === 'file_invalid') assert.match(what, /^The export file plans\.csv \(line 2\) cannot be read/)
    if (code === 'lines_skipped') assert.match(what, /^Lines of the export file plans\.csv \(line 2\) cannot be read/)
  }
})
