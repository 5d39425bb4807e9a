import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { assertAccessible, somePortalInBrowser } from './testing/test-browser.ts'

/** An owner on the overview of a practice, in a browser whose complaints are expected: requests fail on purpose. */
async function somePractice(t: TestContext) {
  const portal = await somePortalInBrowser(t)
  const { organizationId } = await portal.addLocation()
  const owner = await portal.addPerson('Olga Owner')
  await portal.joinOrganization(owner, organizationId, 'owner')
  const context = await portal.browser.newContext({ baseURL: portal.url })
  const page = await context.newPage()
  return { page, context, open: () => portal.signInOnPage(page, owner), home: `/organization/${organizationId}` }
}

test('a page that can no longer be updated says so and keeps its data, and goes on by itself', async (t) => {
  const { page, context, open, home } = await somePractice(t)
  await page.clock.install()
  await open()
  await page.goto(home)
  await page.getByRole('heading', { level: 1, name: 'Practice' }).waitFor()
  const notice = page.getByRole('status').filter({ hasText: 'The data on this page is from' })
  assert.equal(await notice.count(), 0)
  /** Lets the page's next look come, however long a busy machine takes to set its timer. */
  const lookUntil = async (isThere: () => Promise<boolean>) => {
    for (let tries = 0; !(await isThere()); tries += 1) {
      assert.ok(tries < 20, 'the page does not look again')
      await page.clock.runFor(31_000)
      await page.waitForTimeout(250)
    }
  }
  const says = (text: string) => lookUntil(() => notice.getByText(text).isVisible())

  await page.route('**/portal/api/**', (route) => route.abort())
  await says('Bridgework cannot be reached.')
  await page.getByRole('heading', { level: 1, name: 'Practice' }).waitFor()
  await assertAccessible(page)
  const asked = page.waitForRequest('**/portal/api/**')
  await notice.getByRole('button', { name: 'Try now' }).click()
  await asked
  await page.unroute('**/portal/api/**')
  await lookUntil(async () => !(await notice.isVisible()))

  await context.setOffline(true)
  await says('You are offline.')
  await context.setOffline(false)
  await lookUntil(async () => !(await notice.isVisible()))
})

test('a page whose code an update has replaced is loaded anew, once', async (t) => {
  const { page, open, home } = await somePractice(t)
  await open()
  await page.goto(home)
  await page.getByRole('heading', { level: 1 }).waitFor()
  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  // The first page asks for a file that is gone; the one that is loaded anew names the new files.
  await page.route('**/assets/AgentsPage*.js', (route) => (loads === 0 ? route.abort() : route.continue()))
  await page.getByRole('link', { name: 'Agents', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
  assert.equal(loads, 1)
})
