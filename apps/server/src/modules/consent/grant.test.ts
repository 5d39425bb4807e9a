import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import { withTransaction } from '../../platform/database/pool.ts'
import type { LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { lockDatasetStates, saveDatasetState } from '../datasets/writer-lock.ts'
import { grantAccess, listGrants, revokeAccess } from './grant.ts'
import { permitRead } from './read-permit.ts'
import { type AccessWorld, noLocation, someAccessWorld, type TestCompany } from './test-world.ts'

const plans = 'insurance_plans' as DatasetName
const schedules = 'fee_schedules' as DatasetName

async function grantedWorld(world: AccessWorld, size: number) {
  const vendor = await world.addCompany()
  const { organization, locations } = await world.addOrganization(size)
  const scope = { companyId: vendor.company.id, organizationId: organization.id, datasets: 'all', by: 'test' } as const
  return { vendor, organization, ids: locations.map((location) => location.id) as [LocationId, ...LocationId[]], scope }
}

function permit(world: AccessWorld, vendor: TestCompany, id: LocationId, dataset = plans) {
  return permitRead(world.pool, vendor.token, id, dataset, { previewOff: false })
}

test('a grant draws its stamp in turn with the writers of the dataset: it waits for theirs, and no stamp is given twice', async (t) => {
  const world = await someAccessWorld(t)
  const { vendor, ids, scope } = await grantedWorld(world, 1)
  const [id] = ids
  let granting: Promise<unknown> = Promise.resolve()
  let isGranted = false

  const written = await withTransaction(world.pool, async (client) => {
    const [state] = await lockDatasetStates(client, id, [plans])
    assert.ok(state)
    granting = grantAccess(world.pool, { ...scope, locationIds: [id] }).then(() => {
      isGranted = true
    })
    await waitForLock(world)
    assert.equal(isGranted, false)
    // A writer far ahead of the clock, so that only the last stamp can put the grant behind it.
    const stamp = state.clock + 60_000_000
    await saveDatasetState(client, id, plans, { ...state, lastStamp: stamp })
    return stamp
  })
  await granting

  const { grantedStamp, state } = await permit(world, vendor, id)
  assert.equal(grantedStamp, written + 1)
  assert.equal(state.lastStamp, grantedStamp)
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

test('grants, revocations and new locations at once end in what the live consents say', async (t) => {
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

test('K16: the history keeps every consent with who gave it and who ended it', async (t) => {
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
