import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthenticator } from '../../../server/src/apis/portal/testing/test-authenticator.ts'
import { register } from '../../../server/src/apis/portal/testing/test-passkey.ts'
import { setUpTotp } from '../../../server/src/apis/portal/testing/test-second-factor.ts'
import { assertAccessible, somePortalInBrowser } from '../testing/test-browser.ts'

test('W29: support finds a person who lost their second factor, resets it with a reason, and the person comes back by the mail', async (t) => {
  const portal = await somePortalInBrowser(t)
  const organizationId = await portal.addOrganization('Smile Dental')
  const signed = await portal.signInAs({ organizationId }, 'owner')
  await portal.pool.query(`update portal_user set name = 'Pat Owner' where id = $1`, [signed.person.userId])
  await register(signed, createAuthenticator(portal.url))
  await setUpTotp(portal, signed)
  const support = await portal.addPerson('Sam Support')
  await portal.makeOperator(support, 'support')
  const page = await portal.newPage()
  await portal.signInOnPage(page, support)
  await page.getByRole('link', { name: 'People' }).click()
  await page.getByRole('searchbox', { name: 'Search people' }).click()
  await page.keyboard.type('pat ow')
  await page.getByRole('row', { name: /Sam Support/ }).waitFor({ state: 'hidden' })
  await assertAccessible(page)
  await page.getByRole('link', { name: 'Pat Owner' }).click()
  await page.getByRole('heading', { level: 1, name: 'Pat Owner' }).waitFor()
  for (const name of ['Password', 'Authenticator app', 'Recovery codes', /Passkey.*My key/, 'Session']) {
    await page.getByRole('row', { name }).first().waitFor()
  }
  await assertAccessible(page)

  await page.getByRole('button', { name: 'Reset second factor…' }).click()
  const dialog = page.getByRole('dialog')
  const confirm = dialog.getByRole('button', { name: 'Reset second factor' })
  await dialog.getByLabel(/Type/).fill(signed.person.email)
  assert.ok(await confirm.isDisabled(), 'without a reason')
  await dialog.getByLabel('Reason').fill('Phone stolen, called back at the practice')
  await assertAccessible(page)
  await confirm.click()
  await page.getByText('The second factor of Pat Owner was reset. A link was mailed.').waitFor()
  await page.getByRole('row', { name: 'Authenticator app' }).waitFor({ state: 'hidden' })
  assert.equal(await page.getByRole('button', { name: 'Reset second factor…' }).count(), 0)

  const second = await portal.newPage()
  await second.goto(`/reset-password#${await portal.linkSecret(signed.person.email)}`)
  await second.getByLabel('New password').fill('seven green bottles on a wall')
  await second.getByRole('button', { name: 'Set password' }).click()
  await second.waitForURL(/\/sign-in/)
  await portal.signInOnPage(second, { ...signed.person, password: 'seven green bottles on a wall' })
  await second.getByRole('heading', { level: 1, name: /Smile Dental|Overview/ }).waitFor()
  await second.getByRole('link', { name: 'History' }).click()
  await second.getByText(/Reset the second factor of “Pat Owner/).waitFor()
  await second.getByText('Reason: Phone stolen, called back at the practice').waitFor()
})
