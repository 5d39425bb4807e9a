import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setUpTotp } from '../../../server/src/apis/portal/testing/test-second-factor.ts'
import { codeOf } from '../../../server/src/apis/portal/testing/test-totp.ts'
import { assertAccessible, somePortalInBrowser } from '../testing/test-browser.ts'

test('an owner requires a second factor; a member sets one up at the next sign-in, sees the recovery codes, and goes on until the owner ends the session', async (t) => {
  const portal = await somePortalInBrowser(t)
  const organizationId = await portal.addOrganization()
  const signed = await portal.signInAs({ organizationId }, 'owner')
  const { secret } = await setUpTotp(portal, signed)
  const owner = signed.person
  const member = await portal.addPerson('Mia Member')
  await portal.joinOrganization(member, organizationId, 'member')
  const page = await portal.newPage()
  await page.goto(`/sign-in?next=/organization/${organizationId}/members`)
  await page.getByLabel('E-mail address').fill(owner.email)
  await page.getByLabel('Password', { exact: true }).fill(owner.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByLabel('Code from the app').fill(codeOf(secret, 30_000))
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('1 active member has none yet.').waitFor()

  await page.getByRole('button', { name: 'Require a second factor' }).click()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Require it' }).click()
  await page.getByText('Required of all members. This was set').waitFor()
  await assertAccessible(page)

  const second = await portal.newPage()
  await portal.signInOnPage(second, member)
  await second.getByRole('heading', { level: 1, name: 'A second factor is required' }).waitFor()
  await assertAccessible(second)
  assert.equal(await second.getByRole('button', { name: /^Continue to/ }).isEnabled(), false)
  await second.getByRole('button', { name: 'Set up' }).click()
  await second.getByLabel('Your password').fill(member.password)
  await second.getByRole('button', { name: 'Continue', exact: true }).click()
  const shown = await second.getByRole('textbox', { name: 'Secret' }).innerText()
  await second.getByLabel('Code from the app').fill(codeOf(shown, 0))
  await second.getByRole('button', { name: 'Turn on' }).click()
  await second.getByText('The codes are shown only now').waitFor()
  await second.getByLabel('I have stored the codes').check()
  await second.getByRole('button', { name: 'Done' }).click()
  await second.getByRole('button', { name: /^Continue to/ }).click()
  await second.getByRole('heading', { level: 1, name: /practice/i }).waitFor()

  await page.getByRole('button', { name: 'Actions for Mia Member' }).click()
  await page.getByRole('menuitem', { name: 'Sessions…' }).click()
  await page.getByRole('button', { name: 'End session on' }).waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'End all sessions' }).click()
  await page.getByText('No open session.').waitFor()
  await second.reload()
  await second.waitForURL(/\/sign-in/)
})
