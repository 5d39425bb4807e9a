import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Connection, Listed, VendorPage } from '@bridgework/contract/portal'
import { read } from '../testing/test-company.ts'
import { somePortal } from '../testing/test-portal.ts'

test('a grant says what it is for and its last day, on the clock of the practice; the vendor sees both; to extend it asks for a fresh sign-in', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const { organizationId } = location
  const vendor = await world.addVendor()
  const owner = await world.signInAs({ organizationId }, 'owner')
  const company = await world.signInAs({ companyId: vendor.companyId }, 'member')
  const path = `/organizations/${organizationId}/vendors/${vendor.companyId}`
  const seen = async () => read<VendorPage>(await owner.get(path))
  const setTerms = (purpose: string, ends_on: string | null) => owner.put(`${path}/terms`, { purpose, ends_on })
  const grant = async (more: object) =>
    owner.put(`${path}/access`, {
      access_version: (await seen()).access_version,
      all_locations: ['patients'],
      locations: [],
      ...more,
    })
  const year = new Date().getUTCFullYear() + 1
  const setZone = (zone: string) =>
    world.pool.query('update organization set time_zone = $2 where id = $1', [organizationId, zone])

  const withoutZone = await grant({ ends_on: `${year}-07-31` })
  assert.deepEqual([withoutZone.status, withoutZone.body.code], [422, 'field_invalid'])
  assert.match(withoutZone.body.errors, /time zone of the practice, which has none\. Set it in its settings first/)
  await setZone('America/New_York')

  assert.equal((await setTerms('Recall', null)).body.code, 'access_changed', 'without access there is nothing to set')
  for (const ends_on of ['2020-01-01', `${year}-02-31`, 'tomorrow', `${year + 20}-01-01`]) {
    assert.equal((await grant({ ends_on })).status, 422, ends_on)
  }
  assert.equal((await grant({ purpose: 'a\u202eb' })).status, 422)
  assert.equal((await vendor.get(`/locations/${location.id}/patients`)).status, 403)
  read(await grant({ purpose: ' Recall   messages ', ends_on: `${year}-07-31` }))
  const { purpose, ends_at, history } = await seen()
  // Midnight in New York, in summer.
  assert.deepEqual([purpose, ends_at], ['Recall messages', `${year}-08-01T04:00:00.000Z`])
  assert.deepEqual([history[0]?.purpose, history[0]?.ends_at], [purpose, ends_at])
  const [connection] = read<Listed<Connection>>(await company.get(`/companies/${vendor.companyId}/connections`)).data
  assert.deepEqual([connection?.purpose, connection?.ends_at], [purpose, ends_at])
  read(await grant({ all_locations: ['patients', 'treatments'] }))
  assert.equal((await seen()).ends_at, ends_at, 'what a change leaves out stays')
  for (const zone of ['Pacific/Auckland', 'Pacific/Honolulu', 'America/New_York']) {
    await setZone(zone)
    read(await setTerms('Recall', `${year}-03-31`))
    assert.equal((await seen()).ends_on, `${year}-03-31`, zone)
  }

  await world.letSignInAge(owner.person.userId)
  assert.equal((await setTerms('Recall', `${year}-08-01`)).body.code, 'fresh_sign_in_required')
  assert.equal((await setTerms('Recall', null)).body.code, 'fresh_sign_in_required')
  read(await setTerms('Recall', `${year}-01-31`))
  assert.equal((await seen()).ends_at, `${year}-02-01T05:00:00.000Z`)
  const events = read<Listed<{ what: string; details: string | null }>>(
    await owner.get(`/organizations/${organizationId}/events`),
  )
  assert.equal(events.data[0]?.what, 'Set the purpose and the end of the access of “Vendor”')
  assert.match(events.data[0]?.details ?? '', new RegExp(` Purpose: “Recall”\\. Ends: ${year}-02-01T05:00Z\\.$`))
})
