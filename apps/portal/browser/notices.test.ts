import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator, type Tenant } from '../../server/src/modules/membership/tenant.ts'
import { notify } from '../../server/src/modules/notices/notice.ts'
import { somePortalInBrowser, walkPages } from './testing/test-browser.ts'

test('a person sees how many notices are new, opens one where to act, reads all, and chooses mails', async (t) => {
  const portal = await somePortalInBrowser(t)
  const { pool } = portal
  const organizationId = await portal.addOrganization('Smile Group')
  const { companyId } = await portal.addVendor()
  const person = await portal.addPerson('Pat Person')
  await portal.joinOrganization(person, organizationId, 'owner')
  await portal.joinCompany(person, companyId, 'admin')
  await portal.makeOperator(person)
  const tenant: Tenant = { side: 'organization', id: organizationId }
  const home = `/organization/${organizationId}`
  const notice = { event: 'removal_held', kind: 'removals', to: 'removal.decide', body: 'Look at it.' } as const
  for (const title of ['A removal is held', 'Another removal is held', 'A third removal is held']) {
    const now = { publicUrl: portal.url, now: new Date() }
    await notify(pool, now, { ...notice, title, path: `${home}/removals`, tenant })
    await notify(pool, now, { ...notice, title, path: '/operator/jobs', tenant: operator, to: 'operator.read' })
  }
  const page = await portal.newPage()
  await portal.signIn(page, person)

  await page.goto(home)
  await page.getByRole('link', { name: 'Notices, 3 not read' }).click()
  await page.getByRole('heading', { level: 1, name: 'Notices' }).waitFor()
  assert.equal(await page.getByRole('listitem').filter({ hasText: 'New' }).count(), 3)
  await page.getByRole('button', { name: 'Mark as read: Another removal is held' }).click()
  await page.getByRole('link', { name: 'Notices, 2 not read' }).waitFor()
  await page.getByRole('link', { name: 'Open: A removal is held' }).click()
  await page.getByRole('heading', { level: 1, name: 'Removals' }).waitFor()
  await page.getByRole('link', { name: 'Notices, 1 not read' }).click()
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await page.getByRole('link', { name: 'Notices', exact: true }).waitFor()
  // The number and the list are asked for each by itself.
  await page.getByRole('listitem').filter({ hasText: 'New' }).first().waitFor({ state: 'hidden' })
  assert.equal(await page.getByRole('listitem').filter({ hasText: 'removal is held' }).count(), 3)

  await page.getByRole('link', { name: 'Choose mails' }).click()
  const ofPractice = page.getByRole('region', { name: 'Mails about Smile Group' })
  await ofPractice.getByLabel('Removals').selectOption('Once a day')
  await page.getByText('Removals: saved.').waitFor()
  assert.ok(await ofPractice.getByLabel('Security').isDisabled())
  await page.reload()
  assert.equal(await ofPractice.getByLabel('Removals').inputValue(), 'daily')

  await walkPages(page, [
    `${home}/notices`,
    `/company/${companyId}/notices`,
    '/operator/notices',
    '/account?tab=notices',
  ])
  await page.goto(`/company/${companyId}/notices`)
  await page.getByText('No notices yet').waitFor()
})
