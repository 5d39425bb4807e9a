import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, linkMailedTo, openSentOn, somePortalInBrowser } from '../testing/test-browser.ts'

test('a person sets up an authenticator app, and signs in with its code or with a recovery code', async (t) => {
  const portal = await somePortalInBrowser(t)
  const person = await portal.addPerson('Pat Person')
  const page = await portal.newPage()
  await portal.signIn(page, person)
  await page.goto('/account?tab=security')
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByLabel('Your password').fill(person.password)
  await page.getByRole('button', { name: 'Continue' }).click()
  const secret = await page.getByRole('textbox', { name: 'Secret' }).innerText()
  await assertAccessible(page)
  await page.getByLabel('Code from the app').fill(totp(secret))
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('The codes are shown only now').waitFor()
  await assertAccessible(page)
  const codes = await page.getByRole('dialog').getByRole('listitem').allInnerTexts()
  assert.equal(codes.length, 10)
  await page.getByLabel('I have stored the codes').check()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Turn off' }).waitFor()

  const withCode = await portal.newPage()
  await beginSignIn(withCode, person)
  await assertAccessible(withCode)
  // That of the next step, which clocks that differ allow for: a code counts once.
  await withCode.getByLabel('Code from the app').fill(totp(secret, 1))
  await withCode.getByRole('button', { name: 'Confirm' }).click()
  await withCode.getByRole('heading', { level: 1, name: 'Hello Pat Person' }).waitFor()

  const withRecovery = await portal.newPage()
  await beginSignIn(withRecovery, person)
  await withRecovery.getByRole('button', { name: 'Use a recovery code' }).click()
  await withRecovery.getByLabel('Recovery code').fill(codes[0] ?? '')
  await withRecovery.getByRole('button', { name: 'Confirm' }).click()
  await withRecovery.getByRole('heading', { level: 1, name: 'Hello Pat Person' }).waitFor()
})

test('a person adds a passkey and signs in with it alone', async (t) => {
  const portal = await somePortalInBrowser(t)
  const person = await portal.addPerson('Pat Person')
  const page = await portal.newPage()
  await addAuthenticator(page)
  await portal.signIn(page, person)
  await page.goto('/account?tab=security')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Work laptop')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('cell', { name: 'Work laptop', exact: true }).waitFor()
  await assertAccessible(page)

  // The browser offers it with the e-mail field, and this authenticator takes every offer.
  await signOut(page)
  await page.getByRole('heading', { level: 1, name: 'Hello Pat Person' }).waitFor()

  await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
  await page.reload()
  await signOut(page)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('heading', { level: 1, name: 'Hello Pat Person' }).waitFor()
})

test('a person changes their e-mail address with the link in a mail, and restores the old one with the link in another', async (t) => {
  const portal = await somePortalInBrowser(t)
  const person = await portal.addPerson('Pat Person')
  const page = await portal.newPage()
  await portal.signIn(page, person)
  await page.goto('/account')
  await page.getByLabel('New e-mail address').fill('pat@new.example')
  await page.getByRole('button', { name: 'Change e-mail address' }).click()
  await page.getByText('We sent a mail to pat@new.example').waitFor()
  await assertAccessible(page)

  await page.goto(await linkMailedTo(portal, 'pat@new.example'))
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Confirm address' }).click()
  await page.getByRole('heading', { level: 1, name: 'Your e-mail address is changed' }).waitFor()
  await page.getByRole('link', { name: 'Go to your account' }).click()
  await page.getByText('You sign in with pat@new.example.').waitFor()

  await page.goto(await linkMailedTo(portal, person.email))
  await page.getByRole('button', { name: 'Restore address' }).click()
  await page.getByRole('heading', { level: 1, name: 'Your e-mail address is restored' }).waitFor()
  await assertAccessible(page)
  await openSentOn(page, '/account', /\/sign-in/)
})

test('the account keeps the menu of the practice, and shows exact times by keyboard and by touch', async (t) => {
  const portal = await somePortalInBrowser(t)
  const person = await portal.addPerson('Pat Person')
  const { organizationId } = await portal.addLocation()
  await portal.joinOrganization(person, organizationId, 'owner')
  const page = await portal.newPage({ hasTouch: true })
  await portal.signInOnPage(page, person)
  await page.getByRole('button', { name: 'Account of Pat Person' }).click()
  await page.getByRole('menuitem', { name: 'Account and security' }).click()
  await page.getByRole('tab', { name: 'Sessions' }).click()
  await page.getByRole('banner').getByText('Sandbox').waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  const isWhole = await page.evaluate(`(() => {
    const label = [...document.querySelectorAll('header .mantine-Badge-label')][0]
    return label.clientWidth > 0 && label.scrollWidth <= label.clientWidth
  })()`)
  assert.equal(isWhole, true, 'a phone shows the whole word')
  const end = await page.getByRole('banner').getByRole('button').last().boundingBox()
  assert.ok(end && end.x + end.width <= 360, 'the last button is within the phone')
  await page.setViewportSize({ width: 1280, height: 900 })

  const times = page.getByRole('button', { name: 'just now' })
  await times.first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^\w+day, \w+ \d+, \d{4} at [\d:]+ [AP]M \S+$/ }).waitFor()
  await times.first().tap()
  await times.first().waitFor({ state: 'hidden' })
  await assertAccessible(page)

  const menu = page.getByRole('navigation', { name: 'Menu' })
  await menu.getByRole('link', { name: 'Locations' }).click()
  await page.getByRole('heading', { level: 1, name: 'Locations' }).waitFor()
})

test('a person signs out everywhere from the account', async (t) => {
  const portal = await somePortalInBrowser(t)
  const person = await portal.addPerson('Pat Person')
  const page = await portal.newPage()
  await portal.signIn(page, person)
  await page.goto('/account?tab=sessions')
  await page.getByRole('button', { name: 'Sign out everywhere…' }).click()
  await assertAccessible(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.waitForURL(/\/sign-in/)
  await openSentOn(page, '/account', /\/sign-in/)
})

test('a browser that refuses to fill in passkeys shows the form and no error', async (t) => {
  const portal = await somePortalInBrowser(t)
  const page = await portal.newPage()
  await page.addInitScript(`
    PublicKeyCredential.isConditionalMediationAvailable = async () => true
    navigator.credentials.get = async () => {
      document.documentElement.dataset.refused = 'true'
      throw new DOMException('Only modal requests are supported.', 'NotSupportedError')
    }`)
  await page.goto('/sign-in')
  await page.locator('html[data-refused]').waitFor({ state: 'attached' })
  await page.evaluate('new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))')
  assert.equal(await page.getByRole('alert').count(), 0)
})

test('W18: a browser that calls itself by a script is shown as text in the list of sessions', async (t) => {
  const portal = await somePortalInBrowser(t)
  const person = await portal.addPerson('<img src=x onerror=alert(1)>')
  const page = await portal.newPage({ userAgent: '<img src=x onerror=alert(2)>' })
  page.on('dialog', () => assert.fail('a script ran'))
  await portal.signIn(page, person)

  await page.goto('/account?tab=sessions')

  await page.getByText('<img src=x onerror=alert(2)>').first().waitFor()
  assert.equal(await page.locator('img[src=x]').count(), 0)
})

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Pat Person/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/\/sign-in/)
}

async function beginSignIn(page: Page, person: { email: string; password: string }): Promise<void> {
  await page.goto('/sign-in')
  await page.getByLabel('E-mail address').fill(person.email)
  await page.getByLabel('Password', { exact: true }).fill(person.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByLabel('Code from the app').waitFor()
}

/** A platform authenticator that says yes to everything. */
async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

/** RFC 6238, of the step that many steps from now. */
function totp(secret: string, steps = 0): string {
  const bits = [...secret]
    .map((char) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'))
    .join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps))
  const hash = createHmac('sha1', key).update(counter).digest()
  const offset = hash.readUInt8(19) & 0xf
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}
