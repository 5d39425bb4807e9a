import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { OrganizationId } from '../../server/src/platform/identity/identity.ts'
import { assertAccessible, linkMailedTo, somePortalInBrowser } from './testing/test-browser.ts'

const password = 'a bridge between two rivers'

test('a company and a practice sign up, keys are made, an agent is enrolled, two datasets are granted, read, shown as disclosures and revoked', async (t) => {
  const portal = await somePortalInBrowser(t)
  const vendor = await signUp(portal, {
    side: 'A software company',
    name: 'Molar Metrics',
    email: 'ana@vendor.example',
  })
  const practice = await signUp(portal, { side: 'A practice', name: 'Smile Group', email: 'pat@practice.example' })

  // The vendor's owner accepts the agreement and makes the key pair, whose secret is seen once.
  await vendor.getByRole('link', { name: 'Agreement', exact: true }).click()
  await vendor.getByRole('checkbox', { name: /I have read the agreement/ }).check()
  await vendor.getByRole('button', { name: 'Accept agreement' }).click()
  await vendor.getByText('In force', { exact: true }).first().waitFor()
  await vendor.getByRole('link', { name: 'API keys', exact: true }).click()
  await vendor.getByRole('button', { name: 'Generate key pair' }).click()
  const shown = vendor.getByRole('dialog')
  const secret = await readField(shown.getByRole('textbox', { name: 'Client secret' }))
  const clientId = await readField(shown.getByRole('textbox', { name: 'Client id' }))
  await assertAccessible(vendor)
  await shown.getByRole('checkbox', { name: 'I have stored the secret' }).check()
  await shown.getByRole('button', { name: 'Done' }).click()
  await shown.waitFor({ state: 'hidden' })
  assert.ok(!(await vendor.content()).includes(secret), 'W11: gone with its dialog')
  await vendor.reload()
  await vendor.getByText(clientId).first().waitFor()
  assert.ok(!(await vendor.content()).includes(secret), 'W11: a reload does not bring it back')

  const base = `${portal.url}/api/v1/vendors`
  const pair = JSON.stringify({ client_id: clientId, client_secret: secret })
  const { token } = await curl(`${base}/auth/token`, '-H', 'Content-Type: application/json', '-d', pair)
  const bearer = ['-H', `Authorization: Bearer ${token}`]
  assert.deepEqual((await curl(`${base}/locations`, ...bearer)).data, [])

  // The practice's agent brings a location.
  await practice.getByRole('link', { name: 'Agents', exact: true }).click()
  await practice.getByRole('button', { name: 'Enroll an agent' }).first().click()
  await practice.getByRole('button', { name: 'Generate code' }).click()
  const code = await readField(practice.getByRole('dialog').getByRole('textbox', { name: 'One-time code' }))
  const enrolled = await portal.request('/ingest/v1/agents', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ enrolment_code: code, name: 'front-desk', version: '1.0.0' }),
  })
  assert.equal(enrolled.status, 201, enrolled.text)
  await practice.getByText(/Connected: front-desk|front-desk used the code/).waitFor()
  await practice
    .getByRole('button', { name: /^(Done|Close)$/ })
    .last()
    .click()
  const organizationId = String(enrolled.body.organization_id) as OrganizationId
  const location = await portal.addLocation({ organizationId, insurancePlans: 3 })
  const plans = `${base}/locations/${location.id}/insurance_plans`
  assert.equal((await curl(plans, ...bearer)).code, 'location_denied')

  // Two datasets are opened, and read.
  await practice.getByRole('link', { name: 'Vendor access', exact: true }).click()
  await practice.getByRole('searchbox', { name: 'Find a vendor' }).fill('Molar')
  await practice.getByRole('link', { name: 'Molar Metrics' }).click()
  for (const dataset of ['Fee schedules', 'Insurance plans']) {
    await practice.getByRole('checkbox', { name: `${dataset} at Location` }).check()
  }
  await practice.getByRole('button', { name: 'Review changes' }).click()
  await practice.getByRole('button', { name: 'Grant access' }).click()
  await practice.getByRole('dialog').waitFor({ state: 'hidden' })
  const page = await curl(`${plans}?items=2`, ...bearer)
  assert.equal((page.data as unknown[]).length, 2)
  assert.equal((await curl(`${base}/locations/${location.id}/patients`, ...bearer)).code, 'dataset_denied')
  await vendor.getByRole('link', { name: 'Connections', exact: true }).click()
  await vendor.getByRole('heading', { name: 'Smile Group' }).waitFor()

  // The practice sees who read what, and ends it: the next page of the walk is refused.
  const vendorPage = practice.url()
  await practice.getByRole('link', { name: 'Disclosures', exact: true }).click()
  await practice.getByText(/^Molar Metrics read [\d,]+ .* today\.$/).waitFor()
  await practice.goto(vendorPage)
  await practice.getByRole('button', { name: 'Revoke everything' }).click()
  await practice.getByRole('dialog').getByRole('button', { name: 'Revoke everything' }).click()
  await practice.getByText('No access yet').waitFor()
  const after = (page.meta as { next_after: string }).next_after
  assert.equal((await curl(`${plans}?items=2&after=${after}`, ...bearer)).code, 'location_denied')
})

test('an admin generates keys but accepts no agreement, a member does neither, and both read who may', async (t) => {
  const portal = await somePortalInBrowser(t)
  const { companyId, clientId } = await portal.addVendor()
  const home = `/company/${companyId}`
  const { pool } = portal
  // The agreement that was accepted is not the newest any more.
  await pool.query(
    `insert into agreement (version, body, enforced_at) values (2, 'The new one.', now() + interval '9 days')`,
  )

  for (const role of ['admin', 'member'] as const) {
    const person = await portal.addPerson(role)
    await portal.joinCompany(person, companyId, role)
    const page = await portal.newPage()
    await portal.signIn(page, person)
    await page.goto(`${home}/agreement`)
    await page.getByText('Only the owner can accept it').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Accept agreement' }).count(), 0)

    await page.goto(`${home}/keys`)
    if (role === 'admin') {
      await page.getByText(clientId).first().waitFor()
      await page.getByRole('button', { name: 'Regenerate…' }).waitFor()
    } else {
      await page.getByRole('heading', { name: 'Access denied' }).waitFor()
      assert.equal(await page.getByRole('link', { name: 'API keys' }).count(), 0)
    }
    const refused = await page.evaluate(acceptWithoutThePage, companyId)
    assert.deepEqual(refused, { status: 403, code: 'role_denied' })
  }
})

/** Runs in the page: what somebody would try in the browser's console. */
async function acceptWithoutThePage(companyId: string) {
  const session = (await (await fetch('/portal/api/session')).json()) as { csrf_token: string }
  const answer = await fetch(`/portal/api/companies/${companyId}/agreement/acceptance`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': session.csrf_token },
    body: JSON.stringify({ version: 2 }),
  })
  return { status: answer.status, code: ((await answer.json()) as { code: string }).code }
}

type Portal = Awaited<ReturnType<typeof somePortalInBrowser>>

/** Signs up by the pages and by the link that was mailed; returns the page of the person who is signed in then. */
async function signUp(portal: Portal, who: { side: string; name: string; email: string }) {
  const page = await portal.newPage()
  await page.goto('/sign-up')
  await page.getByRole('radio', { name: who.side }).check()
  await page.getByLabel(/^Name of the/).fill(who.name)
  await page.getByLabel('Your name').fill('Ana Owner')
  await page.getByLabel('Your e-mail address').fill(who.email)
  await page.getByLabel(/^Password/).fill(password)
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByText('We sent a link to').waitFor()
  const link = await linkMailedTo(portal, who.email)
  // What a scanner of mails does: it opens the link, runs the page's scripts, and touches nothing. The link still waits for its person.
  for (const reader of [await portal.newPage(), page]) {
    await reader.goto(link)
    await reader.getByText(`Ana Owner signed up with ${who.email}, as the owner of the`).waitFor()
    await reader.getByText(`“${who.name}”`).waitFor()
    await reader.waitForLoadState('networkidle')
  }
  await page.getByRole('button', { name: 'Confirm sign-up' }).click()
  await page.waitForURL(/\/sign-in/)
  await portal.signInOnPage(page, { email: who.email, password })
  await page.getByRole('heading', { level: 1, name: who.name }).waitFor()
  return page
}

async function readField(field: ReturnType<Awaited<ReturnType<Portal['newPage']>>['getByRole']>): Promise<string> {
  await field.waitFor()
  const text = await field.evaluate((node) => ('value' in node ? String(node.value) : (node.textContent ?? '')))
  return text.trim()
}

async function curl(url: string, ...options: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await promisify(execFile)('curl', ['-s', url, ...options])
  return JSON.parse(stdout) as Record<string, unknown>
}
