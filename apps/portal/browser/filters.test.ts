import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aRecord } from '../../server/src/testing/test-world.ts'
import { assertAccessible } from './testing/test-browser.ts'
import { somePractice } from './testing/test-practice.ts'

test('a day that is typed by keyboard filters, and on the way to its year the page stays', async (t) => {
  const { location, page, home, ...portal } = await somePractice(t, 'owner')
  await location.upload('patients', { one: aRecord('patients') })
  const vendor = await portal.addVendor([location])
  assert.equal((await vendor.get(`/locations/${location.id}/patients`)).status, 200)
  for (const [path, title] of [
    ['/disclosures', 'Disclosures'],
    ['/history', 'History'],
  ] as const) {
    await page.goto(home + path)
    const heading = page.getByRole('heading', { level: 1, name: title })
    await heading.waitFor()
    await page.getByLabel('From', { exact: true }).focus()
    for (const key of '01312') await page.keyboard.press(key, { delay: 20 })
    await page.getByText('From must be a day like 2026-01-31, from 2000 to 2199.').waitFor()
    await heading.waitFor()
    for (const key of '026') await page.keyboard.press(key, { delay: 20 })
    await page.waitForURL(/from=2026-01-31/)
    assert.equal(await page.getByText('From must be a day').count(), 0)
    await heading.waitFor()
  }
})

test('an old or hand-made link shows its page, says at each field what is wrong, and filters by the rest', async (t) => {
  const { page, home, ...portal } = await somePractice(t, 'owner')
  await page.goto(`${home}/disclosures?from=0002-01-31&to=2026-02-30&location_id=1&dataset=teeth&company_id=7&before=x`)
  await page.getByText('From must be a day like').waitFor()
  await page.getByText('To must be a day like').waitFor()
  await assertAccessible(page)
  await page.goto(`${home}/disclosures?from=2026-03-02&to=2026-03-01`)
  await page.getByText('From must not be later than to.').waitFor()
  await page.goto(`${home}/history?from=yesterday&page=99999999`)
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()

  const vendor = await portal.addVendor()
  const owner = await portal.newPage()
  const person = await portal.addPerson('Vic Vendor')
  await portal.joinCompany(person, vendor.companyId, 'owner')
  await portal.signIn(owner, person)
  await owner.goto(`/company/${vendor.companyId}/logs?status=abc&since=0002-01-01T00:00:00Z&page=0`)
  await owner.getByText('Status must be a number like 404 or a class like 4xx.').waitFor()
  await owner.getByText('Since must be an instant').waitFor()
})

test('what is typed into a search stays as it was typed, with its blanks, while the list follows', async (t) => {
  const { page, home } = await somePractice(t, 'owner')
  await page.goto(`${home}/vendors`)
  const search = page.getByRole('searchbox', { name: 'Find a vendor' })
  await search.focus()
  await page.keyboard.type('Acme ')
  await page.waitForURL(/search=Acme$/)
  await page.waitForTimeout(400)
  await page.keyboard.type('Dental')
  await page.waitForURL(/search=Acme\+Dental/)
  assert.equal(await search.inputValue(), 'Acme Dental')
})
