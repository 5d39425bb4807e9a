import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './testing/test-browser.ts'
import { somePractice } from './testing/test-practice.ts'

test('a review shows what it was opened with though others change the access meanwhile, and what is confirmed is refused then', async (t) => {
  const { location, page, home, ...portal } = await somePractice(t, 'owner')
  const vendor = await portal.addVendor()
  await page.goto(`${home}/vendors/${vendor.companyId}`)
  await page.getByRole('checkbox', { name: 'Patients at Location', exact: true }).check()
  await page.getByRole('button', { name: 'Review changes' }).click()
  const review = page.getByRole('dialog')
  await review.getByText('Grant Patients at Location.').waitFor()
  const again = page.waitForResponse((answer) => answer.url().endsWith(`/vendors/${vendor.companyId}`) && answer.ok())
  await portal.grant(vendor.companyId, location, ['treatments'])
  // The page reads the vendor again while the review is open, as when its window gets the focus back.
  await page.clock.install()
  await page.clock.fastForward('01:00')
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
  await again
  await page
    .getByRole('checkbox', { name: 'Patients at Location', exact: true, includeHidden: true })
    .waitFor({ state: 'attached' })
  assert.equal(await review.getByText(/^Revoke/).count(), 0, 'the review is what the person reads')
  await review.getByRole('button', { name: 'Grant access' }).click()
  await review.getByText(/The access has changed since you loaded this page. Nothing was saved/).waitFor()
  await review.getByText('Revoke Treatments at Location.').waitFor()
  assert.equal((await vendor.get(`/locations/${location.id}/patients`)).status, 403)
})

test('what a vendor may read comes first and is seen whole at 1,280 pixels and on a phone, with the marks of patient data', async (t) => {
  const { location, page, home, ...portal } = await somePractice(t, 'owner')
  const vendor = await portal.addVendor([location])
  await page.goto(`${home}/vendors/${vendor.companyId}`)
  await page.setViewportSize({ width: 1280, height: 900 })
  const grid = page.getByRole('grid')
  await grid.waitFor()
  const [first] = await page.getByRole('heading', { level: 2 }).allInnerTexts()
  assert.equal(first, 'What it may read')
  const hidden = `(() => { const { scrollWidth, clientWidth } = document.querySelector('[role=grid]').parentElement; return scrollWidth - clientWidth })()`
  assert.equal(Number(await page.evaluate(hidden)), 0, 'no dataset is out of sight')
  assert.ok(
    await grid
      .getByRole('columnheader', { name: /Patients/ })
      .getByText('patient data')
      .isVisible(),
  )
  const history = page.getByRole('region', { name: 'History of grants' })
  assert.equal(await history.getByRole('listitem').count(), 1, 'one act is one line')

  await page.setViewportSize({ width: 390, height: 844 })
  assert.equal(Number(await page.evaluate(hidden)), 0)
  assert.ok(await grid.getByRole('gridcell').getByText('patient data').first().isVisible())
  await assertAccessible(page)
})
