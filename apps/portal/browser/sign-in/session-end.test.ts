import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, somePortalInBrowser } from '../testing/test-browser.ts'

test('W10: after 14 minutes without activity a dialog counts down, and a person who answers stays', async (t) => {
  const portal = await somePortalInBrowser(t)
  const person = await portal.addPerson('Pat Person')
  const page = await portal.newPage()
  await page.clock.install()
  await portal.signIn(page, person)
  await page.goto('/account')
  await page.getByRole('heading', { level: 1 }).waitFor()

  await page.clock.runFor('14:05')
  const dialog = page.getByRole('dialog', { name: 'Are you still there?' })
  await dialog.waitFor()
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Stay signed in' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.clock.runFor('02:00')

  assert.equal(new URL(page.url()).pathname, '/account')
})

test('W10: after 15 minutes one is signed out, comes back to the page, and finds what one had typed', async (t) => {
  const portal = await somePortalInBrowser(t)
  const person = await portal.addPerson('Pat Person')
  const page = await portal.newPage()
  await page.clock.install()
  await portal.signIn(page, person)
  await page.goto('/account')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Patricia, half-typed')

  await page.clock.runFor('15:10')
  await page.waitForURL(/\/sign-in\?/)
  await page.getByText(/without activity/).waitFor()
  await page.getByLabel('E-mail address').fill(person.email)
  await page.getByLabel('Password', { exact: true }).fill(person.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()

  await page.waitForURL(/\/account/)
  assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'Patricia, half-typed')
})

test('W10: what was typed into a dialog and into the agreement survives the end of a session, for the same person alone', async (t) => {
  const portal = await somePortalInBrowser(t)
  const [otto, other] = [await portal.addPerson('Otto Operator'), await portal.addPerson('Olga Operator')]
  await portal.makeOperator(otto)
  await portal.makeOperator(other)
  const page = await portal.newPage()
  await page.clock.install()
  await portal.signIn(page, otto)
  await page.goto('/operator/agreements')
  await page.getByRole('button', { name: 'Write new version' }).click()
  await page.getByText('The text is the same as that of version 1.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Publish…' }).isDisabled(), true)
  await page.getByLabel('Text of the agreement').fill('Half an agreement')
  assert.equal(await page.getByRole('button', { name: 'Publish…' }).isEnabled(), true)
  await page.goto('/operator/members')
  await page.getByRole('button', { name: /^Invite/ }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Half a name')

  const comeBackAs = async (person: { email: string; password: string }) => {
    await page.clock.runFor('15:10')
    await page.waitForURL(/\/sign-in\?/)
    await page.getByLabel('E-mail address').fill(person.email)
    await page.getByLabel('Password', { exact: true }).fill(person.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL(/\/operator\/members/)
    await page.getByRole('button', { name: /^Invite/ }).click()
    return await page.getByRole('dialog').getByLabel('Name').inputValue()
  }
  assert.equal(await comeBackAs(other), '')
  assert.equal(await comeBackAs(otto), 'Half a name')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: /^Invite/ }).click()
  assert.equal(
    await page.getByRole('dialog').getByLabel('Name').inputValue(),
    '',
    'a dialog that was closed by choice is empty',
  )
  await page.goto('/operator/agreements')
  assert.equal(await page.getByLabel('Text of the agreement').inputValue(), 'Half an agreement')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.reload()
  await page.getByRole('button', { name: 'Write new version' }).waitFor()
})

test('W09: after a sign-out the back button shows nothing of it, in this tab and in the others', async (t) => {
  const portal = await somePortalInBrowser(t)
  const vendor = await portal.addVendor()
  const owner = await portal.addPerson('Olga Owner')
  await portal.joinCompany(owner, vendor.companyId, 'owner')
  const page = await portal.newPage()
  await portal.signIn(page, owner)
  await page.goto(`/company/${vendor.companyId}/settings`)
  await page.getByLabel('Name of the company').fill('Typed and given up')
  const other = await page.context().newPage()
  await other.goto(`/company/${vendor.companyId}`)
  await other.getByRole('heading', { level: 1 }).waitFor()

  await page.getByRole('button', { name: /Olga Owner/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/\/sign-in/)
  await other.waitForURL(/\/sign-in/)
  await page.goBack()

  await page.waitForURL(/\/sign-in/)
  assert.equal(await page.getByText(vendor.companyId).count(), 0)
  assert.doesNotMatch(String(await page.evaluate('JSON.stringify({ ...sessionStorage })')), /given up/)
})

test('W21: no address of another site is where one comes out after a sign-in', async (t) => {
  const portal = await somePortalInBrowser(t)
  const vendor = await portal.addVendor()
  const owner = await portal.addPerson('Olga Owner')
  await portal.joinCompany(owner, vendor.companyId, 'owner')
  for (const next of ['//evil.example', '/\\evil.example', 'https:evil.example', '/x/..//evil.example']) {
    const page = await portal.newPage()
    await page.goto(`/sign-in?${new URLSearchParams({ next })}`)
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByLabel('Password', { exact: true }).fill(owner.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    // The start page leads a member of one company to its overview.
    await page.waitForURL(`${portal.url}/company/${vendor.companyId}`)
    await page.context().close()
  }
})
