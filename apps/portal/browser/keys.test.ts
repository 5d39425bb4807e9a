import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, somePortalInBrowser } from './testing/test-browser.ts'

test('W11, W25: a secret is shown once: no reload, no way back, no later page and no storage has it again', async (t) => {
  const portal = await somePortalInBrowser(t)
  const vendor = await portal.addVendor()
  const owner = await portal.addPerson('Olga Owner')
  await portal.joinCompany(owner, vendor.companyId, 'owner')
  const page = await portal.newPage()
  await portal.signIn(page, owner)
  const answers: string[] = []
  await page.goto(`/company/${vendor.companyId}/keys`)

  await page.getByRole('button', { name: 'Regenerate…' }).click()
  const regenerate = page.getByRole('button', { name: 'Regenerate key pair' })
  assert.ok(await regenerate.isDisabled())
  await page.getByLabel(/^Type .* to confirm/).fill('Vendor')
  await assertAccessible(page)
  await regenerate.click()
  const secret = await page.getByRole('textbox', { name: 'Client secret' }).innerText()
  assert.match(secret, /^bws_/)
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Copy Client secret' }).click()
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret)
  assert.ok(await page.getByRole('button', { name: 'Done' }).isDisabled())
  await page.keyboard.press('Escape')
  assert.ok(await page.getByText(secret).isVisible())
  await page.getByLabel('I have stored the secret').check()
  await page.getByRole('button', { name: 'Done' }).click()

  const holds = async () => {
    const kept = String(
      await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])'),
    )
    return [await page.content(), kept, page.url()].some((text) => text.includes(secret))
  }
  assert.equal(await holds(), false)
  page.on('response', async (response) => answers.push(await response.text().catch(() => '')))
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
  assert.equal(await holds(), false)
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
  assert.equal(await holds(), false)
  assert.equal(
    answers.some((text) => text.includes(secret)),
    false,
  )
})

test('after an old sign-in a person confirms their identity before a key pair is revoked, and the action then continues', async (t) => {
  const portal = await somePortalInBrowser(t)
  const vendor = await portal.addVendor()
  const owner = await portal.addPerson('Olga Owner')
  await portal.joinCompany(owner, vendor.companyId, 'owner')
  const page = await portal.newPage()
  await portal.signIn(page, owner)
  await page.goto(`/company/${vendor.companyId}/keys`)
  await portal.letSignInAge(owner.userId)

  await page.getByRole('button', { name: 'Revoke…' }).click()
  await page.getByLabel(/^Type .* to confirm/).fill('Vendor')
  await page.getByRole('button', { name: 'Revoke key pair' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirm your identity' })
  await dialog.waitFor()
  await assertAccessible(page)
  await dialog.getByLabel('Password', { exact: true }).fill(owner.password)
  await dialog.getByRole('button', { name: 'Confirm', exact: true }).click()

  await page.getByText('Generate key pair').waitFor()
  const { rows } = await portal.pool.query('select from key_pair where company_id = $1 and revoked_at is null', [
    vendor.companyId,
  ])
  assert.equal(rows.length, 0)
})
