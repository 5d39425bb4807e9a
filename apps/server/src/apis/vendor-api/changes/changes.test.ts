import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { datasetNames } from '@bridgework/contract'
import { createChangeWatch } from '../../../modules/changes/change-watch.ts'
import { grantAccess } from '../../../modules/consent/grant.ts'
import { publishAgreement } from '../../../modules/credentials/agreement.ts'
import { regenerateKeyPair } from '../../../modules/credentials/key-pair.ts'
import { createLocation } from '../../../modules/onboarding/upsert-locations.ts'
import { aPlan, aRecord, type Body, someWorld, type TestVendor, type TestWorld } from '../../../testing/test-world.ts'
import { markRestored } from '../../operator/installation/database-restored.ts'
import { assertProblem, eventually } from '../testing/test-answer.ts'

type Row = { id: string; type: string; attributes: Record<string, unknown> }
type Changes = { data: Row[]; meta: Body['meta'] & { is_whole: boolean; next_after: string } }

/** One answer of /changes. */
async function changesOf(vendor: TestVendor, query: Record<string, string> = {}): Promise<Changes> {
  const answer = await vendor.get(`/changes?${new URLSearchParams({ items: '5000', ...query })}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body as unknown as Changes
}

/** What a reader has after an answer of everything, and a cursor behind which nothing of the world so far is repeated. */
async function settled(world: TestWorld, vendor: TestVendor): Promise<Changes> {
  // The overlap repeats what changed in the last 15 seconds: as if all that had been longer ago.
  await world.ownerPool.query(
    `update dataset_state set first_stamp = first_stamp - 60000000, last_stamp = last_stamp - 60000000`,
  )
  await world.ownerPool.query(`update dataset_grant set granted_at = granted_at - interval '1 minute'`)
  await world.ownerPool.query(
    `update access_grant set granted_at = granted_at - interval '1 minute', revoked_at = revoked_at - interval '1 minute'`,
  )
  await world.ownerPool.query(`update location set updated_at = updated_at - interval '1 minute'`)
  await world.ownerPool.query(`update key_pair set created_at = created_at - interval '1 minute'`)
  await world.ownerPool.query(`update agreement set published_at = published_at - interval '1 minute'`)
  await world.ownerPool.query(`update agreement_acceptance set accepted_at = accepted_at - interval '1 minute'`)
  const whole = await changesOf(vendor)
  assert.equal(whole.meta.is_whole, true)
  return whole
}

const namesOf = (rows: readonly Row[]) => rows.map(({ type, id }) => `${type} ${id}`)
const find = (rows: readonly Row[], type: string, id: string) =>
  rows.find((row) => row.type === type && row.id === id)?.attributes

async function someChanges(t: TestContext) {
  const world = await someWorld(t)
  const [near, far] = [await world.addLocation({ insurancePlans: 2 }), await world.addLocation()]
  const foreign = await world.addLocation({ insurancePlans: 1 })
  const vendor = await world.addVendor([near, far])
  return { world, near, far, foreign, vendor }
}

test('S14: without a cursor, one request names the watermark of every dataset that may be read, as its list gives it', async (t) => {
  const { world, near, far, foreign, vendor } = await someChanges(t)
  const first = await changesOf(vendor)
  const keys = [near, far].flatMap(({ id }) => datasetNames.map((dataset) => `${id}/${dataset}`))
  const datasets = first.data.filter(({ type }) => type === 'dataset')
  assert.deepEqual(datasets.map(({ id }) => id).toSorted(), keys.toSorted())
  assert.ok(
    datasets.every(({ attributes }) => attributes.next_fetch_modified_since === null),
    'what was not read since its grant is read whole',
  )
  assert.deepEqual(
    first.data.filter(({ type }) => type !== 'dataset').map(({ type }) => type),
    ['agreement', 'key', 'location', 'location'],
  )
  assert.ok(!JSON.stringify(first).includes(foreign.id))

  for (const { id } of [near, far])
    for (const dataset of datasetNames) await vendor.get(`/locations/${id}/${dataset}?items=1`)
  const read = await changesOf(vendor)
  for (const { id } of [near, far]) {
    for (const dataset of datasetNames) {
      const { meta } = (await vendor.get(`/locations/${id}/${dataset}?items=1`)).body
      const row = find(read.data, 'dataset', `${id}/${dataset}`)
      assert.equal(row?.next_fetch_modified_since, meta.next_fetch_modified_since)
      assert.deepEqual(row?.freshness, meta.freshness)
    }
  }
  const disclosures = async () => (await world.pool.query('select from disclosure')).rowCount
  const before = await disclosures()
  await changesOf(vendor)
  assert.equal(await disclosures(), before, 'it has no patient’s data, so nothing is put on record')
})

test('S14: with the cursor, only what changed comes: a dataset and all that show it, and nothing of another company', async (t) => {
  const { world, near, far, foreign, vendor } = await someChanges(t)
  const { meta } = await settled(world, vendor)
  assert.deepEqual((await changesOf(vendor, { after: meta.next_after })).data, [])

  await near.upload('fee_schedules', { s: { ...aRecord('fee_schedules') } })
  await foreign.upload('insurance_plans', { p9: aPlan() })
  const one = await changesOf(vendor, { after: meta.next_after })
  assert.deepEqual(namesOf(one.data), [`dataset ${near.id}/fee_schedules`])
  assert.deepEqual([one.meta.is_whole, one.meta.has_more], [false, false])

  await near.upload('fee_schedules', { s: { ...aRecord('fee_schedules') } })
  const again = await changesOf(vendor, { after: one.meta.next_after })
  assert.deepEqual(
    again.data,
    one.data,
    'what is sent again unchanged is no change; a row of the last 15 s is repeated',
  )

  await far.upload('patients', { one: aRecord('patients') })
  const two = await changesOf(vendor, { after: one.meta.next_after })
  assert.deepEqual(
    namesOf(two.data).toSorted(),
    [`dataset ${far.id}/patients`, `dataset ${near.id}/fee_schedules`].toSorted(),
  )
})

test('S14: a grant that begins or ends, a closed location, a held removal, a new agreement and a new key are rows', async (t) => {
  const { world, near, far, foreign, vendor } = await someChanges(t)
  const { meta } = await settled(world, vendor)
  const news = async () => (await changesOf(vendor, { after: meta.next_after })).data

  await world.revoke(vendor.companyId, far)
  const ended = await news()
  assert.deepEqual(namesOf(ended).toSorted(), datasetNames.map((dataset) => `grant ${far.id}/${dataset}`).toSorted())
  const { granted_at, ended_at } = ended[0]?.attributes ?? {}
  assert.ok(granted_at === null && typeof ended_at === 'string')

  await world.grant(vendor.companyId, foreign, ['patients'])
  const begun = await news()
  assert.equal(find(begun, 'grant', `${foreign.id}/patients`)?.ended_at, null)
  assert.equal(find(begun, 'dataset', `${foreign.id}/patients`)?.next_fetch_modified_since, null)
  assert.equal(find(begun, 'location', foreign.id)?.is_active, true)

  const plans = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`h${index}`, aPlan()]))
  await near.upload('insurance_plans', plans)
  await settled(world, vendor)
  const held = await world.sendList(near.agent, near.id, 'insurance_plans', 2_000_000, ['h1'])
  assert.equal(held.body.code, 'removal_held', held.text)
  const waits = find(await news(), 'dataset', `${near.id}/insurance_plans`)?.removal_held as { missing: number }
  assert.equal(waits.missing, 21)
  await settled(world, vendor)
  await world.sendList(near.agent, near.id, 'insurance_plans', 2_000_000, ['p1', 'p2', ...Object.keys(plans)])
  assert.equal(find(await news(), 'dataset', `${near.id}/insurance_plans`)?.removal_held, null, 'its end is told')

  await world.ownerPool.query('update location set is_active = false, updated_at = clock_timestamp() where id = $1', [
    near.id,
  ])
  assert.equal(find(await news(), 'location', near.id)?.is_active, false)

  await publishAgreement(world.pool, { version: 2, body: 'More.', enforcedAt: new Date(Date.now() + 86_400_000) })
  assert.equal(find(await news(), 'agreement', '2')?.accepted_at, null)

  const pair = await regenerateKeyPair(world.pool, world.secretKey, {
    companyId: vendor.companyId,
    memberId: vendor.ownerId,
  })
  assertProblem(await vendor.get(`/changes?after=${meta.next_after}`), 'token_invalid')
  const token = await world.tokens.issue(vendor.companyId, pair.keyPairId)
  const answer = await world.request(`/api/v1/vendors/changes?after=${meta.next_after}&items=5000`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const rows = answer.body.data as unknown as Row[]
  assert.ok(find(rows, 'key', vendor.clientId)?.ended_at)
  assert.equal(find(rows, 'key', pair.clientId)?.ended_at, null)
})

test('an access that reaches its end by the clock is a row, though nobody has swept it', async (t) => {
  const { world, near, vendor } = await someChanges(t)
  const { meta } = await settled(world, vendor)
  const ended = `update %t set ends_at = clock_timestamp() where company_id = $1 and location_id = $2`
  for (const table of ['access_grant', 'dataset_grant'])
    await world.ownerPool.query(ended.replace('%t', table), [vendor.companyId, near.id])
  const { data } = await changesOf(vendor, { after: meta.next_after })
  assert.deepEqual(namesOf(data).toSorted(), datasetNames.map((dataset) => `grant ${near.id}/${dataset}`).toSorted())
})

test('a grant of the whole organization names each of its locations, with the one that is added later', async (t) => {
  const { world, near, vendor } = await someChanges(t)
  const { meta } = await settled(world, vendor)
  await grantAccess(world.pool, {
    companyId: vendor.companyId,
    organizationId: near.organizationId,
    locationIds: 'all',
    datasets: ['patients'],
    by: 'test',
  })
  const added = await createLocation(world.pool, near.organizationId, { sourceId: 'later', name: 'Later' })
  const { data } = await changesOf(vendor, { after: meta.next_after })
  assert.ok(find(data, 'dataset', `${added.id}/patients`))
  assert.ok(find(data, 'location', added.id))
  assert.ok(find(data, 'grant', `${near.id}/patients`))
})

test('pages of any size have each row once, and changes between two of them come after the last', async (t) => {
  const { world, near, vendor } = await someChanges(t)
  const whole = await settled(world, vendor)
  for (const items of ['1', '3', '7']) {
    const rows: Row[] = []
    let query: Record<string, string> = { items }
    for (let page = 1; ; page += 1) {
      const { data, meta } = await changesOf(vendor, query)
      assert.equal(meta.is_whole, true)
      rows.push(...data)
      if (page === 2) await near.upload('patients', { [`p${items}`]: aRecord('patients') })
      query = { items: meta.has_more ? items : '5000', after: meta.next_after }
      if (!meta.has_more) break
      assert.equal(data.length, Number(items))
    }
    assert.deepEqual(namesOf(rows), namesOf(whole.data))
    assert.ok(namesOf((await changesOf(vendor, query)).data).includes(`dataset ${near.id}/patients`))
  }
  await settled(world, vendor)
  await near.upload('fee_schedules', { s: aRecord('fee_schedules') })
  await near.upload('patients', { p: aRecord('patients') })
  const one = await changesOf(vendor, { after: whole.meta.next_after, items: '1' })
  const two = await changesOf(vendor, { after: one.meta.next_after, items: '1' })
  assert.deepEqual(
    [one, two].map(({ data, meta }) => [...namesOf(data), meta.has_more, meta.is_whole]),
    [
      [`dataset ${near.id}/fee_schedules`, true, false],
      [`dataset ${near.id}/patients`, false, false],
    ],
  )
})

test('a request that waits is answered within 2 s of a change, of whichever kind, and at the end of its wait without one', async (t) => {
  const { world, near, far, foreign, vendor } = await someChanges(t)
  const other = await world.anotherServer()
  const acts: [string, () => Promise<unknown>][] = [
    ['dataset', () => near.upload('patients', { [`${Math.random()}`]: aRecord('patients') })],
    ['grant', () => world.revoke(vendor.companyId, far)],
    ['dataset', () => world.grant(vendor.companyId, foreign, ['patients'])],
    [
      'location',
      () =>
        world.ownerPool.query('update location set name = name, updated_at = clock_timestamp() where id = $1', [
          near.id,
        ]),
    ],
    ['agreement', () => publishAgreement(world.pool, { version: 2, body: 'More.', enforcedAt: new Date(9e12) })],
  ]
  for (const [type, act] of acts) {
    const { meta } = await settled(world, vendor)
    const query = new URLSearchParams({ after: meta.next_after, wait: '20' })
    const asked = world.request(`/api/v1/vendors/changes?${query}`, {
      on: other.url,
      headers: { authorization: `Bearer ${await vendor.token()}` },
    })
    await sleep(700)
    const beganAt = performance.now()
    await act()
    const { body } = await asked
    const tookMs = performance.now() - beganAt
    assert.ok(tookMs < 2_000, `${type}: ${tookMs} ms`)
    assert.ok(
      (body.data as unknown as Row[]).some((row) => row.type === type),
      type,
    )
  }
  const { meta } = await settled(world, vendor)
  const beganAt = performance.now()
  const { data } = await changesOf(vendor, { after: meta.next_after, wait: '1' })
  assert.deepEqual(data, [])
  assert.ok(performance.now() - beganAt > 900)
  const logged = world.events.findLast(
    (event) => event.event === 'request.answered' && event.route.endsWith('/changes'),
  )
  assert.ok(logged?.event === 'request.answered' && logged.durationMs < 500, 'a wait is no time that the service took')
})

test('what is repeated does not end a wait again and again', async (t) => {
  const { world, near, vendor } = await someChanges(t)
  const { meta } = await settled(world, vendor)
  await near.upload('patients', { one: aRecord('patients') })
  const told = await changesOf(vendor, { after: meta.next_after, wait: '20' })
  assert.deepEqual(namesOf(told.data), [`dataset ${near.id}/patients`])
  const beganAt = performance.now()
  const repeated = await changesOf(vendor, { after: told.meta.next_after, wait: '2' })
  assert.deepEqual(repeated.data, told.data)
  assert.ok(performance.now() - beganAt > 1_900)
})

test('a third waiting request of a company is refused, and takes no other’s place; one that left has none', async (t) => {
  const { world, vendor, near } = await someChanges(t)
  const other = await world.addVendor([near])
  const { meta } = await settled(world, vendor)
  const waiting = [1, 2].map(() => vendor.get(`/changes?after=${meta.next_after}&wait=25`))
  await sleep(600)
  const third = await vendor.get(`/changes?after=${meta.next_after}&wait=25`)
  assertProblem(third, 'requests_exceeded', /wait for changes already/)
  assert.equal(third.headers.get('retry-after'), String(third.body.retry_after_seconds))
  assert.equal((await vendor.get(`/changes?after=${meta.next_after}`)).status, 200, 'without wait there is no limit')
  const cursor = (await changesOf(other)).meta.next_after
  assert.equal((await other.get(`/changes?after=${cursor}&wait=1`)).status, 200, 'another company has its own two')
  await near.upload('patients', { one: aRecord('patients') })
  for (const answer of await Promise.all(waiting)) assert.equal(answer.status, 200)

  const again = (await settled(world, vendor)).meta.next_after
  for (let round = 0; round < 4; round += 1) {
    const leave = AbortSignal.timeout(150)
    const headers = { authorization: `Bearer ${await vendor.token()}` }
    const path = `${world.url}/api/v1/vendors/changes?after=${again}&wait=25`
    await assert.rejects(fetch(path, { headers, signal: leave }), /abort|timeout/i)
  }
  const isFree = async () => (await vendor.get(`/changes?after=${again}&wait=1`)).status === 200
  await eventually(isFree, 3_000, 'the places of callers that left are free')
})

test('a service that stops answers what waits at once, and a revoked key ends a wait with 401', async (t) => {
  const { world, vendor } = await someChanges(t)
  const { meta } = await settled(world, vendor)
  const changes = createChangeWatch({ pool: world.pool, log: world.log })
  const other = await world.anotherServer({ changes })
  const headers = { authorization: `Bearer ${await vendor.token()}` }
  const path = `/api/v1/vendors/changes?after=${meta.next_after}&wait=25`
  const waiting = world.request(path, { on: other.url, headers })
  await sleep(600)
  const beganAt = performance.now()
  await changes.stop()
  const answer = await waiting
  assert.deepEqual([answer.status, answer.body.data], [200, []])
  assert.ok(performance.now() - beganAt < 2_000)

  const refused = vendor.get(`/changes?after=${meta.next_after}&wait=25`)
  await sleep(600)
  await regenerateKeyPair(world.pool, world.secretKey, { companyId: vendor.companyId, memberId: vendor.ownerId })
  const revokedAt = performance.now()
  assertProblem(await refused, 'token_invalid')
  assert.ok(performance.now() - revokedAt < 2_000)
})

test('requests that wait hold no share of what the company’s other requests may have', async (t) => {
  const { world, near, vendor } = await someChanges(t)
  const { meta } = await settled(world, vendor)
  const waiting = [1, 2].map(() => vendor.get(`/changes?after=${meta.next_after}&wait=3`))
  await sleep(700)
  const pages = await Promise.all(
    Array.from({ length: 32 }, () => vendor.get(`/locations/${near.id}/patients?items=1`)),
  )
  assert.ok(pages.every(({ status }) => status === 200))
  await Promise.all(waiting)
})

test('after a restore a cursor is answered whole and says so, once, though all stamps lie ahead of the clock', async (t) => {
  const { world, near, vendor } = await someChanges(t)
  for (const dataset of datasetNames) await vendor.get(`/locations/${near.id}/${dataset}`)
  const { data: all, meta } = await settled(world, vendor)
  const waiting = vendor.get(`/changes?after=${meta.next_after}&wait=25&items=5000`)
  await sleep(600)
  const epoch = await markRestored(world.ownerPool)
  const restored = (await waiting).body as unknown as Changes
  assert.deepEqual([restored.meta.is_whole, restored.meta.epoch], [true, epoch])
  assert.deepEqual(namesOf(restored.data), namesOf(all))
  const beganAt = performance.now()
  const after = await changesOf(vendor, { after: restored.meta.next_after, wait: '1' })
  assert.deepEqual([after.meta.is_whole, after.data], [false, []])
  assert.ok(performance.now() - beganAt > 900, 'stamps ahead of the clock are no news')
  await near.upload('patients', { one: aRecord('patients') })
  const later = await changesOf(vendor, { after: after.meta.next_after, wait: '5' })
  assert.deepEqual(namesOf(later.data), [`dataset ${near.id}/patients`])
})

test('a cursor that lies ahead of the clock, which was set back, is answered whole', async (t) => {
  const { world, vendor } = await someChanges(t)
  const { meta } = await settled(world, vendor)
  const [epoch = '', until = ''] = meta.next_after.split('_')
  const ahead = await changesOf(vendor, { after: `${epoch}_${Number(until) + 3_600_000_000}` })
  assert.equal(ahead.meta.is_whole, true)
  assert.equal((await changesOf(vendor, { after: ahead.meta.next_after })).meta.is_whole, false)
})

test('parameters: a cursor of no answer, a wait that is too long, and unknown ones are refused', async (t) => {
  const { world, vendor } = await someChanges(t)
  const { meta } = await settled(world, vendor)
  const forged = [0, 1, 2, 3, 4].map((kind) => `after=${meta.next_after}_all_${kind}_9999999999999999999_0`)
  const wrong = ['after=17', 'after=', `after=${meta.next_after}x`, 'wait=26', 'wait=-1', 'items=0', 'page=1']
  for (const query of [...wrong, ...forged]) assertProblem(await vendor.get(`/changes?${query}`), 'parameter_invalid')
  for (const kind of [0, 1, 2, 3, 4]) {
    const after = `${meta.next_after}_9999999999999999_${kind}_${'9'.repeat(18)}_999`
    assert.deepEqual((await changesOf(vendor, { after })).data, [], 'a place that no answer gave has nothing after it')
  }
  const head = await world.request(`/api/v1/vendors/changes?after=${meta.next_after}&wait=25`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${await vendor.token()}` },
  })
  assert.deepEqual([head.status, head.text], [200, ''], 'a HEAD never waits')
})

test('a dataset that is not served in production has no row', async (t) => {
  const world = await someWorld(t, { previewDatasets: new Set() })
  const location = await world.addLocation()
  const { data } = await changesOf(await world.addVendor([location]))
  assert.equal(find(data, 'dataset', `${location.id}/insurance_plans`), undefined)
  assert.ok(find(data, 'dataset', `${location.id}/patients`))
})
