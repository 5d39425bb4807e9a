import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pagesBelow } from './pages.ts'
import { somePortalInBrowser, walkPages } from './test-browser.ts'

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
  await walkPages(page, [...pagesBelow('/company/$company_id', { company_id: vendor.companyId }), ...tabs])
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
