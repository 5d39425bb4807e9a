import assert from 'node:assert/strict'
import { test } from 'node:test'
import { someDemoPractices } from '../../server/src/sandbox/testing/test-demo-practices.ts'
import { somePortalInBrowser, walkPages } from './testing/test-browser.ts'

test('a vendor drives its sandbox with buttons, and a reset asks first; a member only sees it, and a vendor without a practice reads that it gets one', async (t) => {
  const { practices, start } = someDemoPractices()
  const portal = await somePortalInBrowser(t, { practices })
  const vendor = await portal.addVendor()
  await start(t, portal)
  const admin = await portal.addPerson('Anna Admin')
  await portal.joinCompany(admin, vendor.companyId, 'admin')
  const page = await portal.newPage()
  await portal.signIn(page, admin)
  await page.goto(`/company/${vendor.companyId}`)
  await page.getByRole('link', { name: 'Sandbox', exact: true }).click()
  const now = page.getByRole('region', { name: 'Now' })
  const button = (name: string) => page.getByRole('button', { name, exact: true })

  await page.getByLabel('Patients').fill('')
  assert.ok(await button('Change records').isDisabled())
  await page.getByLabel('Patients').pressSequentially('7')
  await button('Change records').click()
  await page.getByText('Change records: 7 rows of the practice changed.').waitFor()

  await page.getByRole('combobox', { name: 'Fault' }).click()
  await page.getByRole('option', { name: 'Cut the answer' }).click()
  await page.getByLabel('After bytes').fill('20')
  await button('Order the fault').click()
  await now.getByText('cut:20, for 3 more').waitFor()
  await assert.rejects(vendor.get('/locations'))
  await button('Clear the fault').click()
  await now.getByText('No fault').waitFor()

  await button('End access').click()
  await now.getByText('None').waitFor()
  assert.deepEqual((await vendor.get('/locations')).body.data, [])
  await button('Grant access').click()
  await now.getByText(/insurance_plans/).waitFor()

  const before = (await vendor.get('/locations')).body.data.map(({ id }) => id)
  await button('Reset practice…').click()
  const question = page.getByRole('dialog', { name: 'Reset the practice?' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  await button('Reset practice…').click()
  await question.getByRole('button', { name: 'Reset practice' }).click()
  await page.getByText('The practice was made anew.').waitFor()
  const after = (await vendor.get('/locations')).body.data.map(({ id }) => id)
  assert.ok(after.length === 3 && after.every((id) => !before.includes(id)))

  await walkPages(page, [`/company/${vendor.companyId}/sandbox`])

  const late = await portal.addVendor()
  const member = await portal.addPerson('Mia Member')
  for (const { companyId } of [vendor, late]) await portal.joinCompany(member, companyId, 'member')
  const other = await portal.newPage()
  await portal.signIn(other, member)
  await other.goto(`/company/${vendor.companyId}/sandbox`)
  await other.getByText('The owner or an admin can change the sandbox.').waitFor()
  assert.equal(await other.getByRole('button', { name: 'Change records' }).count(), 0)
  await other.goto(`/company/${late.companyId}/sandbox`)
  await other.getByText('No practice yet').waitFor()
})
