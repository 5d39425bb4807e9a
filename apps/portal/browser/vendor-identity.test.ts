import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPng } from '../../server/src/modules/directory/testing/test-png.ts'
import { assertAccessible, openSentOn, somePortalInBrowser, walkPages } from './testing/test-browser.ts'

test('a vendor fills in its profile and asks for access; the practice sees who asks, and grants less until a day', async (t) => {
  const portal = await somePortalInBrowser(t)
  const location = await portal.addLocation()
  const vendor = await portal.addVendor()
  const olga = await portal.addPerson('Olga Owner')
  await portal.joinCompany(olga, vendor.companyId, 'owner')
  const company = await portal.newPage()
  await portal.signIn(company, olga)
  const companyHome = `/company/${vendor.companyId}`

  await company.goto(`${companyHome}/settings`)
  const chooser = company.waitForEvent('filechooser')
  await company.getByRole('button', { name: 'Choose logo' }).click()
  const file = await chooser
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')
  await file.setFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: svg })
  await company.getByRole('alert').getByText('The logo must be a PNG, JPEG or WebP file').waitFor()
  // Of another size: the page scales it.
  const logo = { name: 'logo.png', mimeType: 'image/png', buffer: aPng({ side: 300 }) }
  await file.setFiles(logo)
  await company.getByRole('img', { name: 'Logo of Vendor' }).waitFor()
  await company.getByLabel('Legal name').fill('Vendor Software, Inc.')
  await company.getByLabel('Website', { exact: true }).fill('http://vendor.example')
  await company.getByRole('button', { name: 'Save profile' }).click()
  await company.getByText('The website must be an https address').waitFor()
  await company.getByLabel('Website', { exact: true }).fill('https://www.vendor.example')
  await company.getByLabel('What your software does').fill('Reminds patients of their appointments.')
  await company.getByRole('button', { name: 'Save profile' }).click()
  await company
    .getByRole('textbox', { name: /TXT with this name/ })
    .getByText('_bridgework.vendor.example')
    .waitFor()
  await company.getByRole('button', { name: 'Check now' }).click()
  await company.getByText('The last check found no proof').waitFor()
  await assertAccessible(company)

  await company.goto(`${companyHome}/connections`)
  await company.getByRole('button', { name: 'Ask for access' }).click()
  const asking = company.getByRole('dialog')
  await asking.getByLabel('Practice id').fill(location.organizationId)
  await asking.getByLabel('Patients').check()
  await asking.getByLabel('Appointments').check()
  await assertAccessible(company)
  await asking.getByRole('button', { name: 'Send request' }).click()
  await asking.getByText('Say what you need the data for').waitFor()
  await asking.getByLabel('Purpose').fill('Reminders by text message')
  await asking.getByRole('button', { name: 'Send request' }).click()
  await asking.waitFor({ state: 'hidden' })
  await company.getByText('Requested').waitFor()

  const pat = await portal.addPerson('Pat Practice')
  await portal.joinOrganization(pat, location.organizationId, 'owner')
  const page = await portal.newPage()
  await portal.signIn(page, pat)
  const home = `/organization/${location.organizationId}`
  await walkPages(page, [home, `${home}/vendors`, `${home}/vendors/${vendor.companyId}`])
  // The link that a vendor gives to practices.
  await openSentOn(page, `/vendors/${vendor.companyId}`, new RegExp(`${home}/vendors/`))
  await page.getByRole('region', { name: 'About Vendor' }).getByText('Not verified', { exact: true }).waitFor()
  await page.getByText('Reminds patients of their appointments.').waitFor()
  // Auckland’s last day is over before it is noon of it in UTC.
  await portal.pool.query(`update organization set time_zone = 'Pacific/Auckland' where id = $1`, [
    location.organizationId,
  ])
  await page.getByRole('button', { name: 'Grant…' }).click()
  const granting = page.getByRole('dialog')
  await granting.getByLabel('Appointments').uncheck()
  const lastDay = `${new Date().getUTCFullYear() + 1}-12-31`
  await granting.getByLabel('Last day of access').fill(lastDay)
  await granting.getByText('Patients hold data of patients.').waitFor()
  await assertAccessible(page)
  await granting.getByRole('button', { name: 'Grant access' }).click()
  await granting.waitFor({ state: 'hidden' })
  assert.equal((await vendor.get(`/locations/${location.id}/patients`)).status, 200)
  assert.equal((await vendor.get(`/locations/${location.id}/appointments`)).status, 403)
  assert.equal(await page.getByLabel('Last day of access').inputValue(), lastDay)
  assert.equal(await page.getByRole('textbox', { name: 'Purpose' }).inputValue(), 'Reminders by text message')

  await page.getByRole('textbox', { name: 'Purpose' }).fill('Reminders')
  await page.getByLabel('Last day of access').fill('')
  await page.getByRole('button', { name: 'Save purpose and end' }).click()
  await page.getByText('The access has no end date').waitFor()
  await company.goto(`${companyHome}/connections`)
  await company.getByText('Purpose: Reminders.').waitFor()
  await walkPages(company, [`${companyHome}/connections`, `${companyHome}/settings`])
})

test('an operator verifies a company by what it says of itself, and takes that back with a reason', async (t) => {
  const portal = await somePortalInBrowser(t)
  const vendor = await portal.addVendor()
  await portal.pool.query(`insert into company_profile (company_id, legal_name) values ($1, 'Vendor Software, Inc.')`, [
    vendor.companyId,
  ])
  const opal = await portal.addPerson('Opal Operator')
  await portal.makeOperator(opal)
  const page = await portal.newPage()
  await portal.signIn(page, opal)
  await page.goto('/operator/companies?verified=no')
  const menu = page.getByRole('button', { name: 'Actions for Vendor' })
  await menu.click()
  await page.getByRole('menuitem', { name: 'Verify…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Vendor Software, Inc.').waitFor()
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Verify company' }).click()
  await page.getByText('No company matches').waitFor()
  await page.goto('/operator/companies?verified=yes')
  await menu.click()
  await page.getByRole('menuitem', { name: 'Take verification back…' }).click()
  const back = dialog.getByRole('button', { name: 'Take verification back' })
  assert.equal(await back.isDisabled(), true)
  await dialog.getByLabel(/Reason/).fill('The contract ended')
  await back.click()
  await page.getByText('No company matches').waitFor()
})
