import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pagesBelow } from './pages.ts'
import { assertAccessible, somePortalInBrowser, walkPages } from './test-browser.ts'

test('an operator suspends a company by typing its name, and its next request is refused', async (t) => {
  const { page, ...portal } = await someOperator(t)
  const location = await portal.addLocation({ insurancePlans: 1 })
  const vendor = await portal.addVendor([location])
  const { rows } = await portal.pool.query('select name from company where id = $1', [vendor.companyId])
  const name: string = rows[0].name
  const plans = `/locations/${location.id}/insurance_plans`
  assert.equal((await vendor.get(plans)).status, 200)

  await page.goto('/operator/companies')
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: 'Suspend…' }).click()
  const dialog = page.getByRole('dialog')
  assert.ok(await dialog.getByRole('button', { name: 'Suspend' }).isDisabled())
  await dialog.getByLabel(/Type/).fill(name)
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('table').getByText('Suspended').waitFor()

  assert.notEqual((await vendor.get(plans)).status, 200)
})

test('an operator creates a company, whose owner is invited, and finds it by its name in the address', async (t) => {
  const { page } = await someOperator(t)
  await page.goto('/operator/companies')
  await page.getByRole('button', { name: 'Create company' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name of the company').fill('Recall Radar')
  await dialog.getByLabel('Owner’s name').fill('Vera Vendor')
  await dialog.getByLabel('Owner’s e-mail').fill('vera@recallradar.example')
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })

  await page.goto('/operator/companies?search=recall')
  await page.getByRole('table').getByText('Recall Radar').waitFor()
  assert.equal(await page.getByRole('searchbox', { name: 'Search companies' }).inputValue(), 'recall')
  await page.goto('/operator/companies?search=nobody')
  await page.getByText('No company matches').waitFor()
})

test('an operator previews and publishes a version of the agreement, and its markup stays text', async (t) => {
  const { page } = await someOperator(t)
  await page.goto('/operator/agreements')
  await page.getByRole('button', { name: 'Write new version' }).click()
  const version =
    (await page.getByRole('heading', { level: 2, name: /^Version \d+$/ }).textContent())?.split(' ')[1] ?? ''
  await page.getByLabel('Text of the agreement').fill('# Terms\n\n<img src=x onerror="document.title=1"> Be kind.')
  await page.getByRole('tab', { name: 'Preview' }).click()
  await page.locator('main article').getByText('Be kind.').waitFor()
  assert.equal(await page.locator('main article img').count(), 0)
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Publish…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/Type/).fill(version)
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: new RegExp(`^Version ${version}`) }).waitFor()
})

test('an operator invites another one, sends the link again, and withdraws the invitation by typing the name', async (t) => {
  const { page, ...portal } = await someOperator(t)
  await page.goto('/operator/members')
  await page.getByRole('button', { name: 'Invite operator' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio', { name: 'Admin' }).check()
  await dialog.getByLabel('Name').fill('Nina New')
  await dialog.getByLabel('E-mail').fill('nina@bridgework.example')
  await dialog.getByRole('button', { name: 'Send invitation' }).click()
  await page.getByRole('table').getByText('Invited').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Actions for Otto Operator' }).count(), 0)

  await page.getByRole('button', { name: 'Actions for Nina New' }).click()
  await page.getByRole('menuitem', { name: 'Send invitation again' }).click()
  await page.getByText('Invitation sent again to nina@bridgework.example.').waitFor()
  assert.equal((await portal.mailsTo('nina@bridgework.example')).length, 2)
  await page.getByRole('button', { name: 'Actions for Nina New' }).click()
  await page.getByRole('menuitem', { name: 'Move to support…' }).click()
  await dialog.getByText('nina@bridgework.example, now an admin: Reads every page here.').waitFor()
  await assertAccessible(page)
  await page.getByRole('row', { name: /Nina New.*Admin/, includeHidden: true }).waitFor()
  await dialog.getByRole('button', { name: 'Move to support' }).click()
  await page.getByRole('row', { name: /Nina New.*Support/ }).waitFor()
  await page.getByRole('button', { name: 'Actions for Nina New' }).click()
  await page.getByRole('menuitem', { name: 'Withdraw invitation…' }).click()
  assert.ok(await dialog.getByRole('button', { name: 'Remove' }).isDisabled())
  await dialog.getByLabel(/Type/).fill('Nina New')
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('nina@bridgework.example', { exact: true }).waitFor({ state: 'hidden' })
})

test('support suspends a company with a reason, which the history shows, and is offered nothing that it may not do', async (t) => {
  const { page, ...portal } = await someOperator(t, 'support')
  const vendor = await portal.addVendor()
  const { rows } = await portal.pool.query('select name from company where id = $1', [vendor.companyId])
  const name: string = rows[0].name

  await page.goto('/operator/companies')
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: 'Suspend…' }).waitFor()
  assert.equal(await page.getByRole('menuitem', { name: 'Close…' }).count(), 0)
  await page.getByRole('menuitem', { name: 'Suspend…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/Type/).fill(name)
  assert.ok(await dialog.getByRole('button', { name: 'Suspend' }).isDisabled())
  await dialog.getByLabel('Reason').fill('Ticket 12')
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('table').getByText('Suspended').waitFor()

  await page.goto('/operator/history')
  await page.getByText('Reason: Ticket 12').waitFor()
  await page.goto('/operator/members')
  await page.getByRole('row', { name: /Otto Operator.*Support/ }).waitFor()
  await page.getByText('An admin can invite operators and change their roles.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Invite operator' }).count(), 0)
  await page.goto('/operator/agreements')
  await page.getByText('An admin can publish a version.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Write new version' }).count(), 0)
})

test('every page of the operator is accessible in light and dark, and fits a phone', async (t) => {
  const { page, ...portal } = await someOperator(t)
  const location = await portal.addLocation({ insurancePlans: 1 })
  await portal.addVendor([location])
  await walkPages(page, pagesBelow('/operator', {}))
})

async function someOperator(t: TestContext, role: 'admin' | 'support' = 'admin') {
  const portal = await somePortalInBrowser(t)
  const person = await portal.addPerson('Otto Operator')
  await portal.makeOperator(person, role)
  const page = await portal.newPage()
  await portal.signIn(page, person)
  return { ...portal, page }
}
