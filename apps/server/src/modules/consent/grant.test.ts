import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import { withTransaction } from '../../platform/database/pool.ts'
import type { LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { deltaOverlapMicros } from '../datasets/stamp.ts'
import { lockDatasetStates, saveDatasetState } from '../datasets/writer-lock.ts'
import { listLocations } from '../directory/location.ts'
import { listGrants } from '../overview/grant.ts'
import { latestMoment, scopeOf } from '../records/read/delta.ts'
import { versionOf } from './access.ts'
import { changeAccess, grantAccess, listAccess, revokeAccess } from './grant.ts'
import { permitRead } from './read-permit.ts'
import { type AccessWorld, noLocation, someAccessWorld, type TestCompany } from './testing/test-world.ts'

const plans: DatasetName = 'insurance_plans'
const schedules: DatasetName = 'fee_schedules'

async function grantedWorld(world: AccessWorld, size: number) {
  const vendor = await world.addCompany()
  const { organization, locations } = await world.addOrganization(size)
  const scope = { companyId: vendor.company.id, organizationId: organization.id, datasets: 'all', by: 'test' } as const
  return { vendor, organization, ids: locations.map((location) => location.id) as [LocationId, ...LocationId[]], scope }
}

function permit(world: AccessWorld, vendor: TestCompany, id: LocationId, dataset = plans) {
  return permitRead(world.pool, vendor.token, id, dataset, { previewOff: false })
}

test('an access changes while uploads hold their turns: neither waits for the other', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, ids, scope } = await grantedWorld(world, 3)
  await withTransaction(world.pool, async (client) => {
    await lockDatasetStates(client, ids[0], datasetNames)
    const other = { lockTimeoutMs: 50 }
    assert.deepEqual(await grantAccess(world.pool, { ...scope, locationIds: 'all' }), {
      locations: 3,
      datasets: 3 * datasetNames.length,
    })
    await withTransaction(world.pool, (writer) => lockDatasetStates(writer, ids[1] ?? noLocation, datasetNames), other)
    await revokeAccess(world.pool, { ...scope, locationIds: 'all', datasets: [plans] })
    await world.addLocation((await world.addOrganization(0)).organization)
  })
  await permit(world, vendor, ids[0], schedules)
})

test('the first read draws the grant’s stamp in turn with the writers of the dataset: it waits for theirs, and no stamp is given twice', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, ids, scope } = await grantedWorld(world, 1)
  const [id] = ids
  await grantAccess(world.pool, { ...scope, locationIds: [id] })
  let reading: Promise<unknown> = Promise.resolve()
  let isRead = false

  const written = await withTransaction(world.pool, async (client) => {
    const [state] = await lockDatasetStates(client, id, [plans])
    assert.ok(state)
    reading = permit(world, vendor, id).then(() => {
      isRead = true
    })
    await waitForLock(world)
    assert.equal(isRead, false)
    // A writer far ahead of the clock, so that only the last stamp can put the grant behind it.
    const stamp = state.clock + 60_000_000
    await saveDatasetState(client, id, plans, { ...state, lastStamp: stamp })
    return stamp
  })
  await reading

  const { grantedStamp, state } = await permit(world, vendor, id)
  assert.equal(grantedStamp, written + 1)
  assert.equal(state.lastStamp, grantedStamp)
})

test('a read is not held up by a writer that keeps its turn: until the stamp is drawn, every delta returns the whole dataset', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, ids, scope } = await grantedWorld(world, 1)
  const [id] = ids
  await grantAccess(world.pool, { ...scope, locationIds: [id] })
  const now = Date.now() * 1000
  await withTransaction(world.pool, async (client) => {
    await lockDatasetStates(client, id, [plans])
    const early = await permit(world, vendor, id)
    assert.equal(scopeOf(early, { moment: latestMoment(early), epoch: null }).isWholeBecauseGranted, true)
  })
  const drawn = await permit(world, vendor, id)
  assert.ok(drawn.grantedStamp >= now && drawn.grantedStamp === drawn.state.lastStamp)
  assert.equal(scopeOf(drawn, { moment: drawn.state.lastStamp + deltaOverlapMicros, epoch: null }).isEmpty, true)
})

test('of two first reads at once one draws the stamp, and both see it', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, ids, scope } = await grantedWorld(world, 1)
  await grantAccess(world.pool, { ...scope, locationIds: 'all' })
  const permits = await Promise.all(Array.from({ length: 6 }, () => permit(world, vendor, ids[0])))
  assert.equal(new Set(permits.map(({ grantedStamp }) => grantedStamp)).size, 1)
  assert.ok(permits.every(({ grantedStamp, state }) => grantedStamp === state.lastStamp))
})

test('a location that was granted with all others and is granted alone now keeps its stamp and date, and back', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, ids, scope } = await grantedWorld(world, 3)
  const [kept] = ids
  await grantAccess(world.pool, { ...scope, locationIds: 'all' })
  const first = await permit(world, vendor, kept)
  const closed = ids.slice(1)

  const toSome = await changeAccess(world.pool, scope, () => [{ locationId: kept, dataset: plans, notes: false }])

  assert.deepEqual(
    [toSome.opened.length, toSome.closed.length, toSome.isWider],
    [0, 3 * datasetNames.length - 1, false],
  )
  for (const id of closed) await assert.rejects(permit(world, vendor, id), { code: 'location_denied' })
  await assert.rejects(permit(world, vendor, kept, schedules), { code: 'dataset_denied' })
  const { databaseNow: _, ...then } = await permit(world, vendor, kept)
  const { databaseNow: __, ...before } = first
  assert.deepEqual(then, before)

  const toAll = await changeAccess(world.pool, scope, () => [{ locationId: null, dataset: plans, notes: false }])
  assert.deepEqual([toAll.opened.length, toAll.closed.length, toAll.isWider], [2, 0, true])
  assert.equal((await permit(world, vendor, kept)).grantedStamp, first.grantedStamp)
  const toFuture = await changeAccess(world.pool, scope, () =>
    ids.map((locationId) => ({ locationId, dataset: plans, notes: false })),
  )
  assert.deepEqual([toFuture.opened, toFuture.closed, toFuture.isWider], [[], [], false])
})

test('to include future locations is wider, though nothing more may be read today', async (t) => {
  const world = await someAccessWorld(t)
  const { ids, scope } = await grantedWorld(world, 2)
  await grantAccess(world.pool, { ...scope, locationIds: ids })
  const change = await changeAccess(world.pool, scope, (now) => now.map((grant) => ({ ...grant, locationId: null })))
  assert.deepEqual([change.opened, change.closed, change.isWider], [[], [], true])
})

test('whatever is granted at once, a grant of the same keeps one line, and nothing is stored where nothing changes', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, organization, ids, scope } = await grantedWorld(world, 2)
  await grantAccess(world.pool, { ...scope, locationIds: [...ids, ...ids], datasets: [plans, plans] })
  await grantAccess(world.pool, { ...scope, locationIds: 'all', datasets: [plans] })
  await grantAccess(world.pool, { ...scope, locationIds: ids, datasets: [plans] })
  let calls = 0
  await changeAccess(
    world.pool,
    scope,
    (now) => [...now, ...ids.map((locationId) => ({ locationId, dataset: plans, notes: false }))],
    async () => {
      calls += 1
    },
  )
  assert.equal(calls, 0)
  const all = await listGrants(world.pool, { organizationId: organization.id, withEnded: true })
  assert.deepEqual(
    all.map(({ locationId, revokedAt }) => [locationId, revokedAt !== null]),
    [[null, false], ...ids.toSorted((one, other) => Number(one) - Number(other)).map((id) => [id, true])],
  )
  for (const id of ids) await permit(world, vendor, id)
})

test('an access has a version of its own, which a new location of all changes and one that is not granted does not', async (t) => {
  const world = await someAccessWorld(t)
  const { organization, ids, scope } = await grantedWorld(world, 1)
  const version = async () =>
    versionOf(
      await listAccess(world.pool, scope),
      (await listLocations(world.pool, organization.id)).map(({ id }) => id),
    )
  await grantAccess(world.pool, { ...scope, locationIds: ids })
  const single = await version()
  await world.addLocation(organization)
  assert.equal(await version(), single)
  await grantAccess(world.pool, { ...scope, locationIds: 'all' })
  const all = await version()
  await world.addLocation(organization)
  assert.equal(new Set([single, all, await version()]).size, 3)
})

test('granting again opens nothing anew and keeps the stamp; revoking and granting draws a later one', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, ids, scope } = await grantedWorld(world, 1)
  const [id] = ids
  assert.deepEqual(await grantAccess(world.pool, { ...scope, locationIds: [id] }), {
    locations: 1,
    datasets: datasetNames.length,
  })
  const first = await permit(world, vendor, id)

  assert.deepEqual(await grantAccess(world.pool, { ...scope, locationIds: [id] }), { locations: 0, datasets: 0 })
  assert.deepEqual(await grantAccess(world.pool, { ...scope, locationIds: 'all' }), { locations: 0, datasets: 0 })
  const again = await permit(world, vendor, id)
  assert.equal(again.grantedStamp, first.grantedStamp)
  assert.equal(again.state.lastStamp, first.state.lastStamp)

  await revokeAccess(world.pool, { ...scope, locationIds: 'all' })
  await grantAccess(world.pool, { ...scope, locationIds: [id] })
  assert.ok((await permit(world, vendor, id)).grantedStamp > first.grantedStamp)
})

test('a grant of the whole organization opens a location that appears later; a grant of single ones does not', async (t) => {
  const world = await someAccessWorld(t)
  const whole = await grantedWorld(world, 0)
  await grantAccess(world.pool, { ...whole.scope, locationIds: 'all', datasets: [plans] })
  const single = await grantedWorld(world, 1)
  await grantAccess(world.pool, { ...single.scope, locationIds: single.ids })

  const opened = await world.addLocation(whole.organization)
  const closed = await world.addLocation(single.organization)

  const { grantedStamp, state } = await permit(world, whole.vendor, opened.id)
  assert.ok(grantedStamp > state.firstStamp && grantedStamp === state.lastStamp)
  await assert.rejects(permit(world, whole.vendor, opened.id, schedules), { code: 'dataset_denied' })
  await assert.rejects(permit(world, single.vendor, closed.id), { code: 'location_denied' })
})

test('a location that appears while its organization is being granted is open when both are done', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, organization, scope } = await grantedWorld(world, 2)
  for (let round = 0; round < 10; round += 1) {
    const [location] = await Promise.all([
      world.addLocation(organization),
      grantAccess(world.pool, { ...scope, locationIds: 'all' }),
    ])
    await permit(world, vendor, location.id)
    await revokeAccess(world.pool, { ...scope, locationIds: 'all' })
    await assert.rejects(permit(world, vendor, location.id), { code: 'location_denied' })
  }
})

test('grants, revocations and new locations at once end in what the live grants say', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, organization, ids, scope } = await grantedWorld(world, 3)
  const turns: Promise<unknown>[] = []
  for (let round = 0; round < 8; round += 1) {
    turns.push(grantAccess(world.pool, { ...scope, locationIds: ids }))
    turns.push(revokeAccess(world.pool, { ...scope, locationIds: ids.slice(0, 2) }))
    turns.push(grantAccess(world.pool, { ...scope, locationIds: [...ids].reverse(), datasets: [schedules] }))
    turns.push(world.addLocation(organization))
  }
  await Promise.all(turns)

  const { rows } = await world.pool.query(
    `select location_id, dataset from access_grant where company_id = $1 and revoked_at is null
     except select location_id, dataset from dataset_grant where company_id = $1`,
    [vendor.company.id],
  )
  const reverse = await world.pool.query(
    `select location_id, dataset from dataset_grant where company_id = $1
     except select location_id, dataset from access_grant where company_id = $1 and revoked_at is null`,
    [vendor.company.id],
  )
  assert.deepEqual([rows, reverse.rows], [[], []])
})

test('revoking one dataset leaves the other open; revoking the whole organization ends grants of single locations too', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, ids, scope } = await grantedWorld(world, 2)
  const [id] = ids
  await grantAccess(world.pool, { ...scope, locationIds: ids })

  assert.deepEqual(await revokeAccess(world.pool, { ...scope, locationIds: [id], datasets: [plans] }), {
    locations: 1,
    datasets: 1,
  })
  await assert.rejects(permit(world, vendor, id), { code: 'dataset_denied' })
  await permit(world, vendor, id, schedules)

  await revokeAccess(world.pool, { ...scope, locationIds: 'all' })
  for (const each of ids) await assert.rejects(permit(world, vendor, each, schedules), { code: 'location_denied' })
  assert.deepEqual(await listGrants(world.pool, { companyId: vendor.company.id }), [])
})

test('a location cannot be taken out of a grant of the whole organization, and the refusal changes nothing', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, ids, scope } = await grantedWorld(world, 2)
  const [id] = ids
  await grantAccess(world.pool, { ...scope, locationIds: 'all' })

  await assert.rejects(revokeAccess(world.pool, { ...scope, locationIds: [id] }), {
    code: 'grant_covers_all_locations',
  })

  for (const each of ids) await permit(world, vendor, each)
})

test('K16: the history keeps every grant with who gave it and who ended it', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, organization, ids, scope } = await grantedWorld(world, 1)
  const [id] = ids
  await grantAccess(world.pool, { ...scope, locationIds: [id], datasets: [plans], by: 'Dr. Adams' })
  await revokeAccess(world.pool, { ...scope, locationIds: [id], datasets: [plans], by: 'Dr. Baker' })
  await grantAccess(world.pool, { ...scope, locationIds: 'all', datasets: [schedules], by: 'Dr. Chen' })

  const live = await listGrants(world.pool, { organizationId: organization.id, companyId: vendor.company.id })
  const all = await listGrants(world.pool, { organizationId: organization.id, withEnded: true })

  assert.deepEqual(
    live.map(({ locationId, dataset, grantedBy, revokedAt }) => ({ locationId, dataset, grantedBy, revokedAt })),
    [{ locationId: null, dataset: schedules, grantedBy: 'Dr. Chen', revokedAt: null }],
  )
  const ended = all.find((grant) => grant.revokedAt !== null)
  assert.equal(all.length, 2)
  assert.equal(ended?.locationId, id)
  assert.equal(ended?.locationName, 'Location 1')
  assert.deepEqual([ended?.grantedBy, ended?.revokedBy], ['Dr. Adams', 'Dr. Baker'])
})

test('a grant names an organization, a company and locations that exist and belong together, or changes nothing', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, ids, scope } = await grantedWorld(world, 1)
  const foreign = await world.addOrganization()
  const foreignId = foreign.locations[0]?.id ?? noLocation
  const refusals: [Partial<Parameters<typeof grantAccess>[1]>, string][] = [
    [{ locationIds: [...ids, foreignId] }, 'location_unknown'],
    [{ locationIds: [noLocation] }, 'location_unknown'],
    [{ organizationId: '7' as OrganizationId }, 'organization_unknown'],
    [{ companyId: '00000000-0000-4000-8000-000000000000' as never }, 'company_unknown'],
  ]
  for (const [changed, code] of refusals) {
    await assert.rejects(grantAccess(world.pool, { ...scope, locationIds: ids, ...changed }), { code })
  }
  assert.deepEqual(await listGrants(world.pool, { companyId: vendor.company.id, withEnded: true }), [])
})

/** Until somebody waits for a row lock in this database. Asked by the role that waits: another one's sessions do not say what for. */
async function waitForLock(world: AccessWorld): Promise<void> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`
  for (let tries = 0; tries < 500; tries += 1) {
    const { rows } = await world.pool.query(waiting)
    if (rows.length > 0) return
  }
  assert.fail('nobody waited')
}
