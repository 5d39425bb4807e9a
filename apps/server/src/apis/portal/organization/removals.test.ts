import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { actInWords } from '../../../modules/audit/in-words.ts'
import { aPlan, aRecord, aSchedule } from '../../../testing/test-world.ts'
import { somePortal } from '../testing/test-portal.ts'

type Removal = {
  location_id: string
  dataset: string
  state: string
  list_hash: string
  remaining: number
  hidden: number
  visible: number
  records: { source_id: string; name: string | null; updated_at: string }[]
}

/** A practice whose agent found all but a few records of a dataset gone, which waits for a person. */
async function someRemoval(t: TestContext, dataset = 'insurance_plans', count = 30) {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const { organizationId, agent } = location
  const record = { insurance_plans: aPlan, fee_schedules: aSchedule }[dataset] ?? (() => aRecord(dataset))
  const named = (index: number) =>
    dataset === 'fee_schedules' ? { name: `Schedule ${index}` } : { plan_name: `Plan ${index}` }
  const sourceId = (index: number) => `s${String(index).padStart(3, '0')}`
  const records = Array.from({ length: count }, (_, index) => [sourceId(index), record(named(index))])
  assert.equal((await location.upload(dataset, Object.fromEntries(records))).status, 200)
  const reconcile = (ids: string[]) => world.sendList(agent, location.id, dataset, 10_000_000, ids)
  assert.equal((await reconcile([sourceId(0)])).body.code, 'removal_held')

  const path = `/organizations/${organizationId}/removals`
  const at = `${path}/${location.id}/${dataset}`
  const owner = await world.signInAs({ organizationId }, 'owner')
  const waiting = async () => ((await owner.get(path)).body as unknown as { data: Removal[] }).data
  const visible = async () => {
    const { rows } = await world.pool.query('select count(*)::integer as n from record where not is_hidden')
    return rows[0].n as number
  }
  return { ...world, location, organizationId, path, at, owner, reconcile, sourceId, waiting, visible }
}

test('R08: a held removal shows what it would hide, and hides it when a person confirms the list that was seen', async (t) => {
  const world = await someRemoval(t)
  const { owner, at } = world
  assert.deepEqual(
    (await world.waiting()).map(({ dataset, state, remaining, visible }) => [dataset, state, remaining, visible]),
    [['insurance_plans', 'held', 29, 30]],
  )
  const menu = `/organizations/${world.organizationId}/waiting`
  assert.deepEqual((await owner.get(menu)).body, { removals: 1, access_requests: 0 })
  const preview = (await owner.get(at)).body as unknown as Removal
  assert.equal(preview.records.length, 29)
  const { source_id, name, updated_at } = preview.records[0] ?? assert.fail()
  assert.deepEqual([source_id, name], ['s001', 'Plan 1'])
  assert.ok(Math.abs(Date.parse(updated_at) - Date.now()) < 60_000)

  // As many records as before, but others.
  assert.equal((await world.reconcile([world.sourceId(1)])).body.code, 'removal_held')
  const wrong = await owner.post(`${at}/confirmation`, { list_hash: preview.list_hash })
  assert.deepEqual([wrong.status, wrong.body.code], [409, 'removal_changed'])
  assert.match(wrong.body.errors, /The list has changed since you saw it. It names 29 records now. Review it again/)
  assert.equal(await world.visible(), 30)
  assert.equal((await world.waiting()).length, 1, 'it still waits')

  const admin = await world.signInAs({ organizationId: world.organizationId }, 'admin')
  const [{ list_hash } = assert.fail()] = await world.waiting()
  const answer = await admin.post(`${at}/confirmation`, { list_hash })
  assert.deepEqual([answer.status, answer.body], [200, { hidden: 29, remaining: 0 }])
  assert.deepEqual([await world.visible(), await world.waiting()], [1, []])
  assert.equal((await admin.post(`${at}/confirmation`, { list_hash })).body.code, 'removal_unknown')
  assert.equal((await owner.get(at)).body.code, 'removal_unknown')
  const { rows } = await world.pool.query(
    `select action, actor, facts from audit_event where action = 'removal.decide'`,
  )
  assert.deepEqual(
    rows.map((row) => [row.actor.includes(admin.person.email), actInWords(row).what]),
    [[true, 'Confirmed the removal of Insurance plans at “Location”: 29 records hidden']],
  )
})

test('what was received since the removal was held is neither listed nor hidden', async (t) => {
  const world = await someRemoval(t)
  const unchanged = aPlan({ plan_name: 'Plan 6' })
  await world.location.upload('insurance_plans', { s005: aPlan({ plan_name: 'Back again' }), s006: unchanged })
  const preview = (await world.owner.get(world.at)).body as unknown as Removal
  assert.deepEqual([preview.remaining, preview.records.length], [27, 27])
  assert.ok(!preview.records.some(({ source_id }) => ['s005', 's006'].includes(source_id)))
  const answer = await world.owner.post(`${world.at}/confirmation`, { list_hash: preview.list_hash })
  assert.deepEqual(answer.body, { hidden: 27, remaining: 0 })
})

test('a rejected removal hides nothing and is not asked about again, until a person wants that', async (t) => {
  const world = await someRemoval(t)
  const { owner, at, path, reconcile, sourceId } = world
  const kept = async () => ((await owner.get(path)).body as unknown as { kept: { records: number }[] }).kept
  const [{ list_hash } = assert.fail()] = await world.waiting()
  assert.equal((await owner.post(`${at}/rejection`, { list_hash: 'another' })).body.code, 'removal_changed')
  assert.equal((await owner.post(`${at}/rejection`, { list_hash })).status, 200)
  assert.deepEqual([await world.waiting(), await world.visible()], [[], 30])
  assert.deepEqual([(await reconcile([sourceId(0)])).body, await world.waiting()], [{ hidden: 0 }, []])
  assert.partialDeepStrictEqual(await kept(), [
    { location_id: world.location.id, dataset: 'insurance_plans', title: 'Insurance plans', records: 29 },
  ])

  assert.equal((await owner.delete(`${at}/rejection`)).status, 200)
  assert.equal((await owner.delete(`${at}/rejection`)).body.code, 'removal_unknown')
  assert.deepEqual(await kept(), [])
  assert.equal((await reconcile([sourceId(0)])).body.code, 'removal_held')
  assert.equal((await world.waiting()).length, 1)
  const { rows } = await world.pool.query(`select action, facts from audit_event order by id desc limit 2`)
  assert.deepEqual(
    rows.map((row) => actInWords(row).what),
    [
      'Put the removal of Insurance plans at “Location” back for review',
      'Rejected the removal of Insurance plans at “Location”: 29 records stay visible',
    ],
  )
})

test('R09: at most 100 records are listed; a fee schedule has its name, a patient has none', async (t) => {
  const schedules = await someRemoval(t, 'fee_schedules', 130)
  const listed = ((await schedules.owner.get(schedules.at)).body as unknown as Removal).records
  assert.deepEqual([listed.length, listed[0]?.name], [100, 'Schedule 1'])

  const world = await somePortal(t)
  const location = await world.addLocation()
  const patient = { last_name: 'Patient-Canary' }
  const stored = await location.upload('patients', { a: aRecord('patients', patient), b: aRecord('patients', patient) })
  assert.equal(stored.status, 200, stored.text)
  await world.sendList(location.agent, location.id, 'patients', 10_000_000, [])
  const owner = await world.signInAs({ organizationId: location.organizationId }, 'owner')
  const answer = await owner.get(`/organizations/${location.organizationId}/removals/${location.id}/patients`)
  assert.deepEqual(
    (answer.body as unknown as Removal).records.map(({ source_id, name }) => [source_id, name]),
    [
      ['a', null],
      ['b', null],
    ],
  )
  assert.doesNotMatch(answer.text, /Canary/)
})

test('W19: a member sees what waits and decides nothing; another practice’s people find nothing there', async (t) => {
  const world = await someRemoval(t)
  const { at, path, location } = world
  const member = await world.signInAs({ organizationId: world.organizationId }, 'member')
  assert.equal((await member.get(at)).status, 200)
  const foreign = await world.addLocation()
  const stranger = await world.signInAs({ organizationId: foreign.organizationId }, 'owner')
  const theirs = `/organizations/${foreign.organizationId}/removals/${location.id}/insurance_plans`
  for (const [person, place, code] of [
    [member, at, 'role_denied'],
    [stranger, at, 'organization_unknown'],
    [stranger, theirs, 'location_unknown'],
  ] as const) {
    assert.equal((await person.post(`${place}/confirmation`, { list_hash: 'x' })).body.code, code)
    assert.equal((await person.post(`${place}/rejection`, { list_hash: 'x' })).body.code, code)
    assert.equal((await person.delete(`${place}/rejection`)).body.code, code)
  }
  assert.equal((await stranger.get(theirs)).body.code, 'location_unknown')
  assert.deepEqual((await stranger.get(`/organizations/${foreign.organizationId}/removals`)).body.data, [])
  assert.equal((await world.owner.get(`${path}/${location.id}/teeth`)).body.code, 'dataset_unknown')
  await world.letSignInAge(world.owner.person.userId)
  assert.equal((await world.owner.delete(`${at}/rejection`)).body.code, 'fresh_sign_in_required')
  assert.equal((await world.waiting()).length, 1, 'after all of this it still waits')
})
