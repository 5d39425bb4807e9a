import assert from 'node:assert/strict'
import { test } from 'node:test'
import { livePath, portalApiPath } from '@bridgework/contract/portal'
import type { Page } from 'playwright-core'
import type { Tenant } from '../../server/src/modules/membership/tenant.ts'
import { notify } from '../../server/src/modules/notices/notice.ts'
import { somePractice } from './testing/test-practice.ts'

/** The paths below the portal's API that the page asks for from now on. */
function requestsOf(page: Page): string[] {
  const paths: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith(portalApiPath)) paths.push(pathname.slice(portalApiPath.length))
  })
  return paths
}

/** Resolves when the page's stream is open. */
const streamOf = (page: Page) => page.waitForResponse((response) => new URL(response.url()).pathname.endsWith(livePath))

test('the bell rings within 2 s, without a reload, and the page reads again nothing but what changed', async (t) => {
  const { page, pool, url, home, organizationId } = await somePractice(t, 'owner')
  const opened = streamOf(page)
  await page.goto(`${home}/members`)
  await page.getByRole('link', { name: 'Notices', exact: true }).waitFor()
  assert.equal((await opened).status(), 200)
  const asked = requestsOf(page)
  const tenant: Tenant = { side: 'organization', id: organizationId }
  const notice = { event: 'removal_held', kind: 'removals', to: 'removal.decide', body: 'Look at it.' } as const

  await notify(pool, { publicUrl: url, now: new Date() }, { ...notice, title: 'Held', path: '/', tenant })
  await page.getByRole('link', { name: 'Notices, 1 not read' }).waitFor({ timeout: 2_000 })
  assert.ok(asked.some((path) => path.endsWith('/unread_notices')))
  // The sign-in, and the location that was added, of a moment ago may still be told.
  const others = asked.filter((path) => !/\/(unread_notices|waiting)$/.test(path) && path !== '/session')
  assert.deepEqual(others, [])
})

test('a list shows what another person changed, and a page that was hidden catches up', async (t) => {
  const { page, signIn, newPage, addPerson, joinOrganization, organizationId, home } = await somePractice(t, 'owner')
  const other = await addPerson('Olga Other')
  await joinOrganization(other, organizationId, 'admin')
  const theirs = await newPage()
  await signIn(theirs, other)
  const opened = streamOf(page)
  await page.goto(home)
  await opened
  await theirs.goto(`${home}/settings`)
  const rename = async (name: string) => {
    await theirs.getByLabel('Name').fill(name)
    await theirs.getByRole('button', { name: 'Save' }).click()
    await theirs.getByText('Settings saved.').first().waitFor()
  }

  await rename('First new name')
  await page.getByRole('heading', { level: 1, name: 'First new name' }).waitFor()

  const closed = page.waitForEvent('requestfailed', (request) => request.url().includes(livePath))
  await setVisibility(page, 'hidden')
  await closed
  await rename('Second new name')
  const again = streamOf(page)
  await setVisibility(page, 'visible')
  await again
  await page.getByRole('heading', { level: 1, name: 'Second new name' }).waitFor()
})

test('what a dialog asks about stays as it was read, while the page behind it follows', async (t) => {
  const { page, location, sendList, home } = await somePractice(t, 'owner')
  const missing = async (kept: readonly string[]) =>
    assert.equal(
      (await sendList(location.agent, location.id, 'insurance_plans', 10_000_000, kept)).body.code,
      'removal_held',
    )
  await missing(['p1'])
  const opened = streamOf(page)
  await page.goto(`${home}/removals/${location.id}/insurance_plans`)
  await opened
  await page.getByRole('button', { name: 'Hide 29 records…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Hide 29 records?' })
  await dialog.waitFor()

  await missing(['p1', 'p2'])
  // A dialog hides the page behind it from who cannot see it.
  await page.getByRole('button', { name: 'Hide 28 records…', includeHidden: true }).waitFor()
  await dialog.getByLabel('Type 29 to confirm').fill('29')
  await dialog.getByRole('button', { name: 'Hide records' }).click()
  // What was read is not what there is: nothing was hidden.
  await dialog.getByRole('alert').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Hide 28 records…' }).waitFor()
})

/** What a browser says of a tab that is left and comes back; without a window it never says it itself. */
async function setVisibility(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate(`(() => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: ${JSON.stringify(state)} })
    document.dispatchEvent(new Event('visibilitychange'))
  })()`)
}
