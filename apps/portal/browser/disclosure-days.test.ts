import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, walkPages } from './testing/test-browser.ts'
import { somePractice } from './testing/test-practice.ts'

test('28 reads are one sentence for each vendor and day, below the accounting for a patient, and the single reads come on demand', async (t) => {
  const { location, page, home, ...portal } = await somePractice(t, 'owner')
  const vendor = await portal.addVendor([location])
  for (let reads = 0; reads < 28; reads++) {
    assert.equal((await vendor.get(`/locations/${location.id}/insurance_plans`)).status, 200)
  }
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${home}/disclosures`)
  await page.getByText(/^Vendor read 840 insurance plans at Location, 28 times, today\.$/).waitFor()
  const headings = await page.getByRole('heading', { level: 2 }).allInnerTexts()
  assert.equal(headings[0], 'Disclosures of one patient')
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
  assert.ok(height < 4_500, `the page is ${height} px high on a phone`)
  assert.equal(await page.getByRole('table', { name: 'Disclosures' }).count(), 0)
  await page.getByRole('button', { name: /^Show reads of Vendor on/ }).click()
  await page.getByText('28 of 28 reads').waitFor()
  assert.equal(await page.getByRole('button', { name: /^Show records of the read/ }).count(), 28)
  await assertAccessible(page)
  await page.getByRole('button', { name: /^Hide reads of Vendor on/ }).click()
  await page.getByRole('table', { name: 'Disclosures' }).waitFor({ state: 'detached' })
  await walkPages(page, [`${home}/disclosures`])
})
