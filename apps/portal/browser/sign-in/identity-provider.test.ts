import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  clientId,
  clientSecret,
  startIdentityProvider,
  startLyingProvider,
} from '../../../server/src/apis/portal/testing/test-identity-provider.ts'
import { assertAccessible, somePortalInBrowser, walkPages } from '../testing/test-browser.ts'

test('an owner sets an identity provider up and tests it; a member links it, and signs in through it from the sign-in page', async (t) => {
  const portal = await somePortalInBrowser(t)
  const organizationId = await portal.addOrganization('Smile Dental')
  const [owner, member] = [await portal.addPerson('Olga Owner'), await portal.addPerson('Mia Member')]
  await portal.joinOrganization(owner, organizationId, 'owner')
  await portal.joinOrganization(member, organizationId, 'member')
  const visitor = { subject: 'olga', email: owner.email }
  const redirectUri = `${portal.url}/sign-in/callback/${organizationId}`
  const { issuer } = await startIdentityProvider(t, redirectUri, visitor)

  const page = await portal.newPage()
  await portal.signIn(page, owner)
  const settings = `/organization/${organizationId}/identity-provider`
  await page.goto(settings)
  assert.equal(await page.getByRole('textbox', { name: 'Redirect URI' }).innerText(), redirectUri)
  await page.getByLabel('Name', { exact: true }).fill('Smile account')
  await page.getByLabel('Sign-in name').fill('smile-dental')
  await page.getByLabel('Issuer').fill('http://127.0.0.1:9')
  await page.getByLabel('Client ID').fill(clientId)
  await page.getByLabel('Client secret', { exact: true }).fill(clientSecret)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('cannot be reached').waitFor()
  await page.getByLabel('Issuer').fill(issuer)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Not tested yet.').waitFor()
  await page.getByRole('button', { name: 'Test the sign-in' }).click()
  await page.getByRole('heading', { level: 1, name: 'The test succeeded' }).waitFor()
  assert.equal(new URL(page.url()).search, '', 'no address keeps what the provider sent')
  await assertAccessible(page)
  await page.getByRole('link', { name: 'Back to the settings' }).click()
  await page.getByText('A test succeeded').waitFor()
  await walkPages(page, [settings])
  await page.setViewportSize({ width: 1280, height: 900 })

  Object.assign(visitor, { subject: 'mia', email: member.email })
  const second = await portal.newPage()
  await portal.signIn(second, member)
  await second.goto('/account?tab=security')
  await second.getByRole('button', { name: 'Continue with Smile account' }).click()
  await second.getByRole('heading', { level: 1, name: 'Smile Dental' }).waitFor()

  const third = await portal.newPage()
  await third.goto('/sign-in')
  await third.getByRole('button', { name: 'Sign in with your organization' }).click()
  await third.getByLabel('Sign-in name of your organization').fill('not-there')
  await third.getByRole('button', { name: 'Continue' }).click()
  await third.getByText('There is no identity provider of this name.').waitFor()
  await assertAccessible(third)
  await third.getByLabel('Sign-in name of your organization').fill('smile-dental')
  await third.getByRole('button', { name: 'Continue' }).click()
  await third.getByRole('heading', { level: 1, name: 'Smile Dental' }).waitFor()
  await third.getByRole('button', { name: 'Account of Mia Member' }).click()
  await third.getByRole('menuitem', { name: 'Sign out' }).waitFor()
  assert.equal(await third.getByRole('menuitem', { name: 'Account and security' }).count(), 0)
})

test('an owner and a member are told when a provider does not say that they have just signed in there', async (t) => {
  const portal = await somePortalInBrowser(t)
  const organizationId = await portal.addOrganization('Smile Dental')
  const owner = await portal.addPerson('Olga Owner')
  await portal.joinOrganization(owner, organizationId, 'owner')
  const { issuer } = await startLyingProvider(t, {})

  const page = await portal.newPage()
  await portal.signIn(page, owner)
  await page.goto(`/organization/${organizationId}/identity-provider`)
  await page.getByLabel('Name', { exact: true }).fill('Smile account')
  await page.getByLabel('Sign-in name').fill('smile-dental')
  await page.getByLabel('Issuer').fill(issuer)
  await page.getByLabel('Client ID').fill(clientId)
  await page.getByLabel('Client secret', { exact: true }).fill(clientSecret)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Test the sign-in' }).click()
  await page.getByText('It does not say that you have just signed in there.').waitFor()
  await assertAccessible(page)

  await page.goto('/account?tab=security')
  await page.getByRole('button', { name: 'Continue with Smile account' }).click()
  await page.getByRole('heading', { level: 1, name: 'Smile Dental' }).waitFor()
  await page.goto(`/organization/${organizationId}/members`)
  await page.getByRole('button', { name: 'Invite member' }).click()
  const form = page.getByRole('dialog', { name: 'Invite member' })
  await form.getByLabel('Name').fill('New Person')
  await form.getByLabel('E-mail').fill('new@example.com')
  await form.getByRole('button', { name: 'Send invitation' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirm your identity' })
  await dialog.getByText('Smile account did not say that you had just signed in there').waitFor()
  await assertAccessible(page)
})
