import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { grantAccess, revokeAccess } from '../consent/grant.ts'
import { requirePrincipal } from '../consent/read-permit.ts'
import { type AccessWorld, someAccessWorld } from '../consent/testing/test-world.ts'
import { createLocationLists, getGrantedLocation } from './granted-location.ts'
import { createOrganizationLists, getGrantedOrganization } from './granted-organization.ts'

const plans = 'insurance_plans'
const everything = { organizationId: null, withAttributionScript: false, page: 1, items: 100 }

/** P1 wholly granted to C1, P2 to C2, of P3 one location to both, P4 to nobody, P5 was C1's. */
async function fivePractices(world: AccessWorld) {
  const [c1, c2] = [await world.addCompany(), await world.addCompany()]
  const practices = []
  for (let i = 0; i < 5; i += 1) practices.push(await world.addOrganization(3))
  const [p1, p2, p3, p4, p5] = practices
  assert.ok(p1 && p2 && p3 && p4 && p5)
  const grant = (
    company: typeof c1,
    practice: typeof p1,
    locationIds: LocationId[] | 'all',
    datasets: DatasetName[] | 'all',
  ) =>
    grantAccess(world.pool, {
      companyId: company.company.id,
      organizationId: practice.organization.id,
      locationIds,
      datasets,
      by: 'test',
    })
  const one = p3.locations.slice(0, 1).map(({ id }) => id)
  await grant(c1, p1, 'all', 'all')
  await grant(c1, p3, one, [plans])
  await grant(c1, p5, 'all', 'all')
  await grant(c2, p2, 'all', 'all')
  await grant(c2, p3, one, 'all')
  await revokeAccess(world.pool, {
    companyId: c1.company.id,
    organizationId: p5.organization.id,
    locationIds: 'all',
    datasets: 'all',
    by: 'test',
  })
  const principal = await requirePrincipal(world.pool, c1.token)
  return { principal, p1, p2, p3, p4, p5, one }
}

const byId = (left: string, right: string) => Number(left) - Number(right)

test('A07: a company’s locations are exactly those that were granted to it, in order of their ids', async (t) => {
  const world = await someAccessWorld(t)
  const { principal, p1, one } = await fivePractices(world)
  const expected = [...p1.locations.map(({ id }) => id), ...one].sort(byId)

  const { total, locations } = await createLocationLists(world.pool).list(principal, everything)

  assert.equal(total, 4)
  assert.deepEqual(
    locations.map(({ id }) => id),
    expected,
  )
  for (const location of locations) {
    const granted = location.id === one[0] ? [plans] : datasetNames
    assert.deepEqual(location.datasetsGranted, granted)
    assert.deepEqual(
      location.states.map(({ dataset }) => dataset),
      granted,
    )
    assert.deepEqual(location.attributionScript, { isInstalled: false, installedAt: null, lastSeenAt: null })
  }
  const pages = await Promise.all(
    [1, 2, 3].map((page) => createLocationLists(world.pool).list(principal, { ...everything, page, items: 3 })),
  )
  assert.deepEqual(
    pages.map((page) => page.total),
    [4, 4, 4],
  )
  assert.deepEqual(
    pages.map((page) => page.locations.length),
    [3, 1, 0],
  )
  assert.deepEqual(
    pages.flatMap((page) => page.locations.map(({ id }) => id)),
    expected,
  )
})

test('a page of locations costs two statements, however many there are', async (t) => {
  const world = await someAccessWorld(t)
  const { principal } = await fivePractices(world)
  const queries = t.mock.method(world.pool, 'query')
  await createLocationLists(world.pool).list(principal, everything)
  assert.equal(queries.mock.callCount(), 2)
})

test('A08, A09: a filter by organization never widens: unknown 404, not granted 403; nor does that of the attribution script', async (t) => {
  const world = await someAccessWorld(t)
  const { principal, p1, p2, p3, p4, p5, one } = await fivePractices(world)
  const list = (organizationId: OrganizationId, withAttributionScript = false) =>
    createLocationLists(world.pool).list(principal, { ...everything, organizationId, withAttributionScript })

  assert.equal((await list(p1.organization.id)).total, 3)
  const single = await list(p3.organization.id)
  assert.deepEqual([single.total, single.locations.map(({ id }) => id)], [1, one])
  for (const { organization } of [p2, p4, p5]) {
    await assert.rejects(list(organization.id), { code: 'organization_denied' })
    await assert.rejects(list(organization.id, true), { code: 'organization_denied' })
  }
  await assert.rejects(list('7' as OrganizationId), { code: 'organization_unknown' })
  assert.deepEqual(await list(p1.organization.id, true), { total: 0, hasMore: false, locations: [] })
})

test('one location: granted, denied or unknown, as the path says it', async (t) => {
  const world = await someAccessWorld(t)
  const { principal, p1, p3, p4, p5, one } = await fivePractices(world)
  const [granted] = p1.locations
  assert.ok(granted)
  const { datasetsGranted, states, attributionScript, ...location } = await getGrantedLocation(
    world.pool,
    principal,
    granted.id,
  )
  assert.deepEqual(location, granted)
  assert.deepEqual(
    [datasetsGranted, states.length, attributionScript.isInstalled],
    [datasetNames, datasetNames.length, false],
  )
  assert.deepEqual((await getGrantedLocation(world.pool, principal, String(one[0]))).datasetsGranted, [plans])
  for (const { id } of [...p3.locations.slice(1), ...p4.locations, ...p5.locations]) {
    await assert.rejects(getGrantedLocation(world.pool, principal, id), { code: 'location_denied' })
  }
  for (const id of ['7', '0', '-1', '01', 'abc', '', '9'.repeat(20), '\0']) {
    await assert.rejects(getGrantedLocation(world.pool, principal, id), { code: 'location_unknown' })
  }
})

test('organizations: exactly those that granted something, with how many locations and which datasets', async (t) => {
  const world = await someAccessWorld(t)
  const { principal, p1, p2, p3, p4, p5 } = await fivePractices(world)
  const expected = [
    { id: p1.organization.id, locationsCount: 3, datasetsGranted: datasetNames },
    { id: p3.organization.id, locationsCount: 1, datasetsGranted: [plans] },
  ].sort((left, right) => byId(left.id, right.id))

  const { total, organizations } = await createOrganizationLists(world.pool).list(principal, { page: 1, items: 100 })

  assert.equal(total, 2)
  assert.deepEqual(
    organizations.map(({ id, locationsCount, datasetsGranted }) => ({ id, locationsCount, datasetsGranted })),
    expected,
  )
  for (const organization of organizations) {
    assert.ok(organization.grantedAt instanceof Date)
    assert.deepEqual(await getGrantedOrganization(world.pool, principal, organization.id), organization)
  }
  const beyond = await createOrganizationLists(world.pool).list(principal, { page: 9, items: 5 })
  assert.deepEqual(beyond, { total: 2, hasMore: false, organizations: [] })
  for (const { organization } of [p2, p4, p5]) {
    await assert.rejects(getGrantedOrganization(world.pool, principal, organization.id), {
      code: 'organization_denied',
    })
  }
  for (const id of ['7', '0', 'abc', '']) {
    await assert.rejects(getGrantedOrganization(world.pool, principal, id), { code: 'organization_unknown' })
  }
})

test('A07: a location counts once, however many of its datasets are granted, and so does a dataset of several locations', async (t) => {
  const world = await someAccessWorld(t)
  const [company, practice] = [await world.addCompany(), await world.addOrganization(3)]
  const [first, second] = practice.locations
  assert.ok(first && second)
  for (const [location, datasets] of [
    [first, ['patients', plans]],
    [second, [plans]],
  ] as [typeof first, DatasetName[]][])
    await grantAccess(world.pool, {
      companyId: company.company.id,
      organizationId: practice.organization.id,
      locationIds: [location.id],
      datasets,
      by: 'test',
    })
  const principal = await requirePrincipal(world.pool, company.token)
  const { organizations } = await createOrganizationLists(world.pool).list(principal, { page: 1, items: 100 })
  assert.deepEqual(
    organizations.map(({ locationsCount, datasetsGranted }) => [locationsCount, datasetsGranted]),
    [[2, [plans, 'patients']]],
  )
})
