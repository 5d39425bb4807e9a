import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { type CompanyId, newUuid, type OrganizationId } from '../../platform/identity/identity.ts'
import { completeLocations } from '../onboarding/complete-locations.ts'
import { createLocation, upsertLocations } from '../onboarding/upsert-locations.ts'
import { closeCompany, findCompany, insertCompany, resumeCompany, suspendCompany } from './company.ts'
import { findLocation, type LocationSource, listLocations } from './location.ts'
import { createOrganization, findOrganization, listOrganizations } from './organization.ts'

const source: LocationSource = {
  sourceId: '3',
  name: 'Downtown',
  addressLine1: '1 Main St',
  addressLine2: null,
  city: 'Salem',
  state: 'OR',
  postalCode: '97301',
  country: 'US',
  phone: null,
  email: null,
  websiteUrl: 'https://smile.example',
  timeZone: 'America/Los_Angeles',
  currency: 'USD',
  isActive: true,
  officeHours: null,
  practiceManagementSystem: { name: 'Open Dental', version: '25.3.1' },
}

test('an organization keeps what it was made with, and refuses what cannot be', async (t) => {
  const { pool } = await createTestDatabase(t)
  const fields = { name: '  Smile Group ', externalReference: 'crm-7', timeZone: 'America/New_York', country: 'US' }
  const made = await createOrganization(pool, fields)
  assert.deepEqual(await findOrganization(pool, made.id), made)
  assert.equal(made.name, 'Smile Group')
  assert.ok(Number(made.id) >= 100_000_000_000_000 && Number(made.id) < 2 ** 53)
  for (const wrong of [
    { name: ' ' },
    { name: 'x'.repeat(201) },
    { name: 'a\0b' },
    { name: 'A', timeZone: 'Mars/Base' },
    { name: 'A', country: 'USA' },
  ]) {
    await assert.rejects(createOrganization(pool, wrong), { code: 'field_invalid' })
  }
  assert.deepEqual(await listOrganizations(pool), [made])
})

test('locations are known by the practice management system’s key: sent again they keep their id, and their updated_at moves only with a change', async (t) => {
  const { pool } = await createTestDatabase(t)
  const organization = await createOrganization(pool, { name: 'Smile Group' })
  const [first] = await upsertLocations(pool, organization.id, [source])
  assert.ok(first)
  const { id, organizationId, assignedTimeZone, closedAt, createdAt, updatedAt, ...kept } = first
  assert.deepEqual([assignedTimeZone, closedAt], [null, null])
  assert.deepEqual(kept, source)
  assert.equal(organizationId, organization.id)
  assert.deepEqual(await findLocation(pool, id), first)

  assert.deepEqual(await upsertLocations(pool, organization.id, [source]), [first])
  const second = { ...source, sourceId: '4', name: 'Uptown', isActive: false }
  const renamed = { ...source, name: 'Downtown II', phone: '555-0100', addressLine1: null }
  const both = await upsertLocations(pool, organization.id, [renamed, second])
  assert.equal(both.length, 2)
  const changed = await findLocation(pool, id)
  assert.ok(changed && changed.updatedAt > updatedAt)
  assert.deepEqual(changed, { ...first, ...renamed, updatedAt: changed.updatedAt })
  assert.deepEqual(await upsertLocations(pool, organization.id, []), both)
  assert.deepEqual(createdAt, changed.createdAt)

  const other = await createOrganization(pool, { name: 'Other' })
  const same = await createLocation(pool, other.id, { sourceId: '3', name: 'Downtown' })
  assert.notEqual(same.id, id)
  assert.equal((await listLocations(pool, null)).length, 3)
  assert.deepEqual(await listLocations(pool, other.id), [same])
})

test('locations of an unknown organization, or two of one key, change nothing', async (t) => {
  const { pool } = await createTestDatabase(t)
  const organization = await createOrganization(pool, { name: 'Smile Group' })
  await assert.rejects(upsertLocations(pool, '7' as OrganizationId, [source]), { code: 'organization_unknown' })
  await assert.rejects(upsertLocations(pool, organization.id, [source, source]), { code: 'field_invalid' })
  assert.deepEqual(await listLocations(pool, null), [])
})

test('two reports of the same new locations at once make each location once', async (t) => {
  const { pool } = await createTestDatabase(t)
  const organization = await createOrganization(pool, { name: 'Smile Group' })
  const sources = Array.from({ length: 5 }, (_, index) => ({ ...source, sourceId: String(index) }))
  const answers = await Promise.all(Array.from({ length: 6 }, () => upsertLocations(pool, organization.id, sources)))
  for (const answer of answers) assert.deepEqual(answer, answers[0])
  assert.equal(answers[0]?.length, 5)
})

test('every dataset of a location has a stamp from its creation on, and a dataset that is added later gets its own', async (t) => {
  const { pool } = await createTestDatabase(t)
  const organization = await createOrganization(pool, { name: 'Smile Group' })
  const before = Date.now() * 1000 - 1000
  const location = await createLocation(pool, organization.id, source)
  const states = () =>
    pool.query('select dataset, first_stamp, last_stamp from dataset_state where location_id = $1 order by dataset', [
      location.id,
    ])
  const { rows } = await states()
  assert.deepEqual(
    rows.map((row) => row.dataset),
    [...datasetNames].sort(),
  )
  for (const row of rows)
    assert.ok(row.first_stamp === row.last_stamp && Number(row.first_stamp) >= before - 60_000_000)

  const [lost] = datasetNames
  await pool.query('delete from dataset_state where location_id = $1 and dataset = $2', [location.id, lost])
  await completeLocations(pool)
  await completeLocations(pool)
  const after = await states()
  assert.equal(after.rows.length, rows.length)
  for (const row of after.rows) {
    const same = rows.find((other) => other.dataset === row.dataset)
    if (row.dataset === lost) assert.ok(Number(row.first_stamp) >= Number(same?.first_stamp))
    else assert.deepEqual(row, same)
  }
})

test('a company is paused, resumed, and closed for good', async (t) => {
  const { pool } = await createTestDatabase(t)
  const company = await insertCompany(pool, 'Vendor')

  assert.equal((await suspendCompany(pool, company.id)).state, 'suspended')
  assert.equal((await resumeCompany(pool, company.id)).state, 'active')
  assert.equal((await closeCompany(pool, company.id)).state, 'closed')
  await assert.rejects(resumeCompany(pool, company.id), { code: 'company_closed' })
  await assert.rejects(suspendCompany(pool, company.id), { code: 'company_closed' })
  assert.equal((await findCompany(pool, company.id))?.state, 'closed')
  await assert.rejects(suspendCompany(pool, newUuid<CompanyId>()), { code: 'company_unknown' })
})
