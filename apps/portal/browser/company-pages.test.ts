import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pagesBelow } from './pages.ts'
import { somePortalInBrowser, walkPages } from './testing/test-browser.ts'

test('every page of the account and of a company can be used with a screen reader, in the dark and on a phone', async (t) => {
  const portal = await somePortalInBrowser(t)
  const vendor = await portal.addVendor()
  const location = await portal.addLocation({ insurancePlans: 2 })
  await portal.grant(vendor.companyId, location)
  const owner = await portal.addPerson('Olga Owner')
  await portal.joinCompany(owner, vendor.companyId, 'owner')
  const page = await portal.newPage()
  await portal.signIn(page, owner)
  const tabs = ['', '?tab=security', '?tab=sessions', '?tab=activity'].map((tab) => `/account${tab}`)
  await walkPages(page, [
    // The page of the sandbox needs a demo practice: sandbox.test.ts walks over it.
    ...pagesBelow('/company/$company_id', { company_id: vendor.companyId, location_id: location.id }, [
      '/company/$company_id/sandbox',
    ]),
    ...tabs,
  ])
})

test('a member sees no action that a member may not do, and reads who may', async (t) => {
  const portal = await somePortalInBrowser(t)
  const vendor = await portal.addVendor()
  const member = await portal.addPerson('Mia Member')
  await portal.joinCompany(member, vendor.companyId, 'member')
  const page = await portal.newPage()
  await portal.signIn(page, member)
  await page.goto(`/company/${vendor.companyId}`)

  const menu = page.getByRole('navigation', { name: 'Menu' })
  await menu.getByRole('link', { name: 'Usage' }).waitFor()
  for (const hidden of ['API keys', 'History', 'Settings']) {
    assert.equal(await menu.getByRole('link', { name: hidden }).count(), 0, hidden)
  }
  await page.goto(`/company/${vendor.companyId}/keys`)
  await page.getByText('Your role does not permit this').waitFor()
  await page.goto(`/company/${vendor.companyId}/quickstart`)
  await page.getByText('The owner or an admin can send a request from here.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Send request' }).count(), 0)
})

test('a list keeps its search in the address, so that a link and the back button lead to the same', async (t) => {
  const portal = await somePortalInBrowser(t)
  const vendor = await portal.addVendor()
  const owner = await portal.addPerson('Olga Owner')
  await portal.joinCompany(owner, vendor.companyId, 'owner')
  const page = await portal.newPage()
  await portal.signIn(page, owner)
  await page.goto(`/company/${vendor.companyId}/keys`)

  await page.getByLabel('Search key pairs').fill('no such pair')
  await page.waitForURL(/search=no\+such\+pair/)
  await page.getByText('No key pair matches the search').waitFor()
  await page.reload()

  assert.equal(await page.getByLabel('Search key pairs').inputValue(), 'no such pair')
  await page.getByRole('button', { name: 'Clear search' }).click()
  await page.waitForURL((url) => url.search === '')
  await page.getByText('No key pair matches the search').waitFor({ state: 'hidden' })
})

test('the plots of usage have round scales in their unit, and a text', async (t) => {
  const portal = await somePortalInBrowser(t)
  const location = await portal.addLocation({ insurancePlans: 2 })
  const vendor = await portal.addVendor([location])
  const member = await portal.addPerson('Mia Member')
  await portal.joinCompany(member, vendor.companyId, 'member')
  await vendor.get(`/locations/${location.id}/insurance_plans`)
  await portal.usage.flush()
  const page = await portal.newPage()
  await portal.signIn(page, member)
  await page.goto(`/company/${vendor.companyId}/usage?range=1h`)
  await page.getByRole('img', { name: /^Response times in the last hour: half of the requests within/ }).waitFor()
  // There is one bucket, which a line cannot show: it is a bar, on a scale with round lines in its unit, and the bar does not reach past them.
  assert.equal(await page.locator('.recharts-line').count(), 0)
  const times = page.getByRole('img', { name: /^Response times/ })
  await times.locator('.recharts-bar-rectangle path').first().waitFor()
  const bar = await times.locator('.recharts-bar-rectangle path').first().boundingBox()
  const scale = await times.locator('.recharts-yAxis-tick-labels').boundingBox()
  assert.ok(bar && scale && bar.height > 0 && bar.y >= scale.y && bar.width <= 32, JSON.stringify([bar, scale]))
  const marks = await times.locator('.recharts-yAxis-tick-labels text').allTextContents()
  assert.equal(marks[0], '0 ms')
  for (const mark of marks) assert.match(mark, /^[\d.]+ (ms|s)$/)
  const marksMs = marks.map((mark) => Math.round(Number.parseFloat(mark) * (mark.endsWith(' ms') ? 1 : 1000)))
  const [, stepMs = 0] = marksMs
  assert.match(String(stepMs), /^[125]0*$/)
  assert.deepEqual(
    marksMs,
    marksMs.map((_, index) => index * stepMs),
  )
  await walkPages(page, [`/company/${vendor.companyId}/usage?range=30d`])
})
