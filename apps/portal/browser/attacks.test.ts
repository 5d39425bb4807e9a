import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { aPlan } from '../../server/src/testing/test-world.ts'
import { openSentOn, somePortalInBrowser } from './testing/test-browser.ts'

/** Would run where a name became markup; the picture is one that cannot be loaded. */
const markup = '<img src=x onerror="window.wasRun = true">{{7*7}}'

test('W18: markup in the names of companies, practices, locations, plans and people is text on every page', async (t) => {
  const portal = await somePortalInBrowser(t)
  const { pool } = portal
  const location = await portal.addLocation({ insurancePlans: 30 })
  const { organizationId } = location
  const vendor = await portal.addVendor([location])
  await pool.query('update organization set name = $1', [`practice ${markup}`])
  await pool.query('update location set name = $1', [`location ${markup}`])
  await pool.query('update company set name = $1', [`company ${markup}`])
  const uploaded = await location.upload('insurance_plans', { p2: aPlan({ plan_name: `plan ${markup}` }) })
  assert.equal(uploaded.status, 200, uploaded.text)
  const removal = await portal.sendList(location.agent, location.id, 'insurance_plans', 10_000_000, ['p1'])
  assert.equal(removal.status, 409)
  assert.equal((await vendor.get(`/locations/${location.id}/insurance_plans`)).status, 200)

  const person = await portal.addPerson(`person ${markup}`)
  await portal.joinCompany(person, vendor.companyId, 'owner')
  await portal.joinOrganization(person, organizationId, 'owner')
  await portal.makeOperator(person)
  const page = await portal.newPage()
  await portal.signIn(page, person)
  const practice = `/organization/${organizationId}`
  const company = `/company/${vendor.companyId}`
  const shown: [path: string, text: string][] = [
    ['/', `practice ${markup}`],
    [company, `company ${markup}`],
    [`${company}/connections`, `location ${markup}`],
    [`${company}/members`, `person ${markup}`],
    [`${practice}/locations`, `location ${markup}`],
    [`${practice}/vendors/${vendor.companyId}`, `company ${markup}`],
    [`${practice}/disclosures`, `company ${markup}`],
    [`${practice}/removals/${location.id}/insurance_plans`, `plan ${markup}`],
    ['/operator/companies', `company ${markup}`],
    ['/operator/organizations', `practice ${markup}`],
  ]
  for (const [path, text] of shown) {
    await page.goto(path)
    await page.getByText(text).first().waitFor()
    assert.equal(await page.evaluate('window.wasRun'), undefined, path)
    assert.equal(await page.locator('img[src="x"]').count(), 0, path)
  }
})

test('W22: no other site can frame a page of ours, or hold on to a window that it opened', async (t) => {
  const portal = await somePortalInBrowser(t)
  const evil = await someOtherSite(t, `<iframe src="${portal.url}/sign-in"></iframe>`)
  // Not newPage: what Chromium refuses here, it writes into the console.
  const page = await (await portal.browser.newContext()).newPage()
  const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
  await page.goto(evil)
  await refused
  assert.equal(await page.frameLocator('iframe').getByLabel('E-mail address').count(), 0)

  const opening = page.waitForEvent('popup')
  await page.evaluate(`window.opened = window.open('${portal.url}/sign-in'); undefined`)
  const opened = await opening
  await opened.getByLabel('E-mail address').waitFor()
  assert.equal(await opened.evaluate('window.opener'), null)
  assert.equal(await page.evaluate('window.opened.closed'), true, 'for the other site the window is gone')
})

test('W01: a caller who is not signed in is asked to sign in by the page, and refused by the API', async (t) => {
  const portal = await somePortalInBrowser(t)
  const { companyId } = await portal.addVendor()
  const page = await portal.newPage()

  await openSentOn(page, `/company/${companyId}/agreement`, /\/sign-in\?next=/)
  const answer = await page.evaluate(async (id) => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"version":1}' }
    return (await fetch(`/portal/api/companies/${id}/agreement/acceptance`, init)).status
  }, companyId)

  assert.equal(answer, 401)
})

async function someOtherSite(t: TestContext, body: string): Promise<string> {
  const server = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end(body))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
