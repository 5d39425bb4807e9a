import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { listLocations } from '../../server/src/modules/directory/location.ts'
import { upsertLocations } from '../../server/src/modules/onboarding/upsert-locations.ts'
import { pagesBelow } from './pages.ts'
import { assertAccessible, somePortalInBrowser, walkPages } from './testing/test-browser.ts'

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

test('names lead from page to page, plots have a text, and a list is sorted by its heading', async (t) => {
  const { page, ...portal } = await someOperator(t, 'support')
  const location = await portal.addLocation({ insurancePlans: 2 })
  await nameLocations(portal, location, ['Z', 'a 10', 'a 9'])
  const vendor = await portal.addVendor([location])
  await vendor.get(`/locations/${location.id}/insurance_plans`)
  await portal.usage.flush()
  const heading = () => page.getByRole('heading', { level: 1 }).textContent()

  await page.goto('/operator/companies')
  const company = page.getByRole('button', { name: 'Company', exact: true })
  await company.click()
  await page.locator('th[aria-sort=ascending]').getByText('Company').waitFor()
  await company.click()
  await page.locator('th[aria-sort=descending]').getByText('Company').waitFor()
  assert.match(page.url(), /sort=-name/)
  const isWider = await page.getByRole('table').evaluate((table) => {
    const frame = table.parentElement
    return frame === null || frame.scrollWidth > frame.clientWidth
  })
  assert.ok(!isWider, 'the actions of a company are in sight on a screen of 1280 pixels')
  const { rows } = await portal.pool.query('select name from company where id = $1', [vendor.companyId])
  await page.getByRole('link', { name: rows[0].name }).click()
  await page.waitForURL(/companies\/[\da-f-]{36}/)
  await page.getByRole('img', { name: /^1 requests in the last 24 hours/ }).waitFor()
  await page.locator('main').getByRole('link').first().click()
  await page.waitForURL(/organizations\/\d+$/)
  await page.getByRole('img', { name: 'Ingest: Records, at most 2 at one time' }).waitFor()
  const locations = page.getByRole('table', { name: 'Locations' })
  const names = () => locations.getByRole('link').allTextContents()
  assert.deepEqual(await names(), ['a 10', 'a 9', 'Z'])
  await locations.getByRole('button', { name: 'Location' }).click()
  await page.waitForURL(/sort=name/)
  assert.deepEqual(await names(), ['a 9', 'a 10', 'Z'])
  await locations.getByRole('button', { name: 'State' }).click()
  await page.waitForURL(/sort=state/)
  await page.getByText('7 days').click()
  await page.waitForURL(/range=7d.*sort=state|sort=state.*range=7d/)
  await locations.getByRole('link', { name: 'Z' }).click()
  await page.waitForURL(/locations\/\d+$/)
  await page.getByRole('row', { name: /Insurance plans.*2/ }).waitFor()
  const agent = page.locator(`a[href="/operator/agents/${location.agent.agentId}"]`)
  const name = await agent.textContent()
  await agent.click()
  await page.waitForURL(/agents\/\d+$/)
  await page.getByRole('heading', { level: 1, name: name ?? '' }).waitFor()
  assert.equal(await heading(), name)
  await page.getByText('30 days').click()
  await page.waitForURL(/range=30d/)

  // A table that has all its rows is sorted by the page: numbers as numbers, and the address keeps the column.
  await page.goto('/operator?sort=-size')
  const tables = page.getByRole('table', { name: 'Largest tables' })
  await tables.locator('th[aria-sort=descending]').getByText('Size').waitFor()
  const counts = async () => {
    const cells = await tables.locator('tbody tr td:nth-child(3)').allTextContents()
    return cells.map((text) => Number(text.replaceAll(',', '')))
  }
  await tables.getByRole('button', { name: 'Rows (estimate)' }).click()
  await page.waitForURL(/sort=rows/)
  const upwards = await counts()
  assert.deepEqual(
    upwards,
    upwards.toSorted((one, other) => one - other),
  )
})

test('every page of the operator is accessible in light and dark, and fits a phone', async (t) => {
  const { page, ...portal } = await someOperator(t)
  const location = await portal.addLocation({ insurancePlans: 1 })
  const vendor = await portal.addVendor([location])
  await portal.pool.query(
    `insert into service_minute
     select date_trunc('minute', now()) - n * interval '1 minute', gen_random_uuid(), n, 2e8, 3, 0, 20, 1, 5e9, 9e9, 0, 0
       from generate_series(0, 59) n`,
  )
  const ids = {
    company_id: vendor.companyId,
    organization_id: location.organizationId,
    location_id: location.id,
    agent_id: location.agent.agentId,
    user_id: (await portal.addPerson('Ada')).userId,
  }
  await walkPages(page, pagesBelow('/operator', ids))
})

async function someOperator(t: TestContext, role: 'admin' | 'support' = 'admin') {
  const portal = await somePortalInBrowser(t)
  const person = await portal.addPerson('Otto Operator')
  await portal.makeOperator(person, role)
  const page = await portal.newPage()
  await portal.signIn(page, person)
  return { ...portal, page }
}

/** The first name is for `location`, the others for new ones of its practice. */
async function nameLocations(
  { pool }: Awaited<ReturnType<typeof somePortalInBrowser>>,
  { id, organizationId }: Awaited<ReturnType<Awaited<ReturnType<typeof somePortalInBrowser>>['addLocation']>>,
  [first, ...others]: string[],
) {
  const [like] = await listLocations(pool, organizationId)
  if (!like) throw new Error('no location')
  await pool.query('update location set name = $2 where id = $1', [id, first])
  await upsertLocations(
    pool,
    organizationId,
    others.map((name) => ({ ...like, sourceId: name, name })),
  )
}
