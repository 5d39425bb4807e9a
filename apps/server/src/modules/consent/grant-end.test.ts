import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actInWords } from '../audit/in-words.ts'
import { createLocationLists } from '../overview/granted-location.ts'
import { createOrganizationLists } from '../overview/granted-organization.ts'
import { datasetsEverywhere } from './access.ts'
import { changeAccess, endExpiredGrants, findTerms, listAccess } from './grant.ts'
import { listNotesGranted } from './notes.ts'
import { permitRead, requirePrincipal } from './read-permit.ts'
import { someAccessWorld } from './testing/test-world.ts'

const none = { purpose: null, endsAt: null }

test('a grant ends by the clock in every path at once, and then as a revocation does, with an act in both histories', async (t) => {
  const world = await someAccessWorld(t)
  const { pool } = world
  const { organization, locations } = await world.addOrganization(2)
  const [location] = locations
  if (!location) assert.fail()
  const { company, token } = await world.addCompany()
  const parties = { companyId: company.id, organizationId: organization.id, by: 'Pat' }
  const grant = { locationId: null, dataset: 'appointments' as const, notes: true }
  const endsAt = new Date(Date.now() + 3_600_000)
  const { terms } = await changeAccess(pool, { ...parties, termsOf: () => ({ purpose: 'Recall', endsAt }) }, () => [
    grant,
  ])
  assert.deepEqual(terms, { purpose: 'Recall', endsAt })
  const late = await world.addLocation(organization)
  const may = async (id = location.id) =>
    await permitRead(pool, token, id, 'appointments', { previewOff: false }).then(
      () => 'read',
      (error: { code: string }) => error.code,
    )
  const seen = async () => {
    const principal = await requirePrincipal(pool, token)
    const page = { organizationId: null, withAttributionScript: false, page: 1, items: 10 }
    return {
      read: await may(),
      late: await may(late.id),
      locations: (await createLocationLists(pool).list(principal, page)).total,
      organizations: (await createOrganizationLists(pool).list(principal, page)).total,
      access: datasetsEverywhere(await listAccess(pool, parties)),
      notes: (await listNotesGranted(pool, [location.id])).length,
    }
  }
  const before = { read: 'read', late: 'read', locations: 3, organizations: 1, access: ['appointments'], notes: 1 }
  assert.deepEqual(await seen(), before)

  // The clock is the database's: the end moves in its place.
  const moveEnd = async (interval: string) => {
    for (const table of ['access_grant', 'dataset_grant']) {
      await pool.query(`update ${table} set ends_at = ends_at - $1::interval where ends_at is not null`, [interval])
    }
  }
  await moveEnd('59 minutes')
  assert.deepEqual(await seen(), before, 'not a minute early')
  await moveEnd('1 minute')
  const after = {
    read: 'location_denied',
    late: 'location_denied',
    locations: 0,
    organizations: 0,
    access: [],
    notes: 0,
  }
  assert.deepEqual(await seen(), after)
  assert.equal(await may((await world.addLocation(organization)).id), 'location_denied', 'nor a location of later')

  await endExpiredGrants(pool)
  await endExpiredGrants(pool)
  assert.deepEqual(await seen(), after)
  const { rows: acts } = await pool.query(
    `select side, action, facts from audit_event where action = 'grant.end' order by side`,
  )
  const said = (other: string) =>
    `Ended an access at its end date, “${other}”: Appointments with notes at all locations`
  assert.deepEqual(
    acts.map((act) => [act.side, actInWords(act).what]),
    [
      ['company', said('Smile Group')],
      ['organization', said(company.name)],
    ],
  )
  const { rows: rest } = await pool.query(
    `select (select count(*)::integer from dataset_grant) as open, (select count(*)::integer from note_removal) as notes,
            (select string_agg(distinct revoked_by, ' ') from access_grant) as by`,
  )
  assert.deepEqual(rest, [{ open: 0, notes: 4, by: 'end date' }])
  assert.deepEqual(await findTerms(pool, parties), none)
})

test('what has ended is granted anew, also before anything has swept it up: the next delta returns all of it', async (t) => {
  const world = await someAccessWorld(t)
  const { pool } = world
  const { organization, locations } = await world.addOrganization()
  const { company, token } = await world.addCompany()
  const parties = { companyId: company.id, organizationId: organization.id, by: 'Pat' }
  const grant = { locationId: locations[0]?.id ?? assert.fail(), dataset: 'patients' as const, notes: false }
  const stampOf = async () =>
    (await permitRead(pool, token, grant.locationId, 'patients', { previewOff: false })).grantedStamp
  const past = new Date(Date.now() - 1_000)
  await changeAccess(pool, parties, () => [grant])
  const first = await stampOf()
  await changeAccess(pool, { ...parties, termsOf: () => ({ purpose: 'Once', endsAt: past }) }, (now) => now)
  const { before, terms } = await changeAccess(pool, parties, (now) => [...now, grant])
  assert.deepEqual([before, terms], [[], none], 'neither the access nor its terms come back by themselves')
  assert.ok((await stampOf()) > first)
})

test('a longer end is more access, a shorter one is not, and what stays readable keeps its stamp', async (t) => {
  const world = await someAccessWorld(t)
  const { pool } = world
  const { organization, locations } = await world.addOrganization()
  const { company, token } = await world.addCompany()
  const parties = { companyId: company.id, organizationId: organization.id, by: 'Pat' }
  const grant = { locationId: locations[0]?.id ?? assert.fail(), dataset: 'patients' as const, notes: false }
  const stampOf = async () =>
    (await permitRead(pool, token, grant.locationId, 'patients', { previewOff: false })).grantedStamp
  await changeAccess(pool, parties, () => [grant])
  const stamp = await stampOf()
  const [soon, later] = [new Date(Date.now() + 60_000), new Date(Date.now() + 120_000)]
  const setEnd = async (endsAt: Date | null) => {
    let acts = 0
    const act = async () => {
      acts += 1
    }
    const { isWider } = await changeAccess(
      pool,
      { ...parties, termsOf: (now) => ({ ...now, endsAt }) },
      (now) => now,
      act,
    )
    return { isWider, acts }
  }
  assert.deepEqual(await setEnd(soon), { isWider: false, acts: 1 })
  assert.deepEqual(await setEnd(soon), { isWider: false, acts: 0 }, 'the same end is no act')
  assert.deepEqual(await setEnd(later), { isWider: true, acts: 1 })
  assert.deepEqual((await findTerms(pool, parties)).endsAt, later)
  assert.deepEqual(await setEnd(null), { isWider: true, acts: 1 })
  assert.equal(await stampOf(), stamp)
})
