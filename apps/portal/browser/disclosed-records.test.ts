import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aRecord } from '../../server/src/testing/test-world.ts'
import { assertAccessible, somePortalInBrowser } from './testing/test-browser.ts'

test('F24: a practice sees which records a vendor read and whose, finds a patient by name, and reads it all in its history', async (t) => {
  const portal = await somePortalInBrowser(t)
  const location = await portal.addLocation()
  const names = { first_name: 'Ana', middle_name: null, last_name: 'Silva', preferred_name: null }
  await location.upload('patients', { '4711': aRecord('patients', { ...names, date_of_birth: '1990-01-31' }) })
  const vendor = await portal.addVendor([location])
  const listed = await vendor.get(`/locations/${location.id}/patients`)
  const recordId = listed.body.data[0]?.id ?? assert.fail()
  const owner = await portal.addPerson('Olga Owner')
  await portal.joinOrganization(owner, location.organizationId, 'owner')
  const page = await portal.newPage()
  const addresses: string[] = []
  page.on('request', (request) => addresses.push(request.url()))
  await portal.signIn(page, owner)
  const home = `/organization/${location.organizationId}`

  await page.goto(`${home}/disclosures`)
  await page.getByRole('button', { name: /^Show reads of/ }).click()
  await page.getByRole('button', { name: /^Show records of the read/ }).click()
  const drawer = page.getByRole('dialog', { name: 'Records of a read' })
  await drawer.getByRole('cell', { name: recordId, exact: true }).waitFor()
  assert.equal(await drawer.getByText('Ana Silva').count(), 0, 'no patient is looked up before a person asks for it')
  await drawer.getByRole('button', { name: 'Show patients' }).click()
  await drawer.getByText('born 1990-01-31 · number 4711').waitFor()
  await assertAccessible(page)
  const downloading = page.waitForEvent('download')
  await drawer.getByRole('button', { name: 'Download with patients as CSV' }).click()
  assert.match((await downloading).suggestedFilename(), /^disclosure-\d+\.csv$/)
  await drawer.getByRole('button', { name: 'Show disclosures of Ana Silva' }).click()
  await page.getByText('Ana Silva: 1 disclosure.').waitFor()
  assert.equal(await page.getByLabel('Patient number').inputValue(), '4711')

  await page.getByLabel('Patient name').fill('SILVA')
  await page.getByRole('button', { name: 'Find patient' }).click()
  await page.getByText('1 patient found.').waitFor()
  await page
    .getByRole('table', { name: 'Patients found' })
    .getByRole('button', { name: /Ana Silva/ })
    .click()
  await page.getByRole('table', { name: 'Disclosures of the patient' }).waitFor()
  await assertAccessible(page)

  await page.goto(`${home}/history`)
  await page.getByRole('combobox', { name: 'Kind' }).click()
  await page.getByRole('option', { name: 'Disclosures' }).click()
  await page.waitForURL(/kind=disclosures/)
  const rows = page.getByRole('table', { name: 'History' })
  await rows.getByText('Searched for a patient by name: 1 found').waitFor()
  await rows
    .getByText('Looked up the patients of a read of Patients by “Vendor” at “Location”: 1 record')
    .first()
    .waitFor()
  await rows.getByText('Listed the disclosures of one patient').first().waitFor()
  await page.getByRole('searchbox', { name: 'Person' }).fill('Unknown Person')
  await page.getByText('No entry matches the filters').waitFor()
  await assertAccessible(page)
  // Whole words: the random ids of a test have every digit some day.
  for (const address of addresses) assert.doesNotMatch(address, /silva|\b4711\b|\b1990\b/i)
  assert.doesNotMatch(String(await page.evaluate('JSON.stringify({ ...sessionStorage })')), /silva|\b4711\b/i)
})
