import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, openSentOn, somePortalInBrowser } from '../testing/test-browser.ts'

test('a new password is checked while it is typed, and the form says what to do', async (t) => {
  const { newPage } = await somePortalInBrowser(t)
  const page = await newPage()
  await page.goto('/sign-up')
  await page.getByLabel('Your name').fill('Olga Owner')
  const password = page.getByLabel('Password', { exact: true })
  await password.fill('the teeth of 0lga shine at noon')
  await page.getByText('contains “Olga”, which is part of your name').waitFor()
  await assertAccessible(page)
  await password.fill('seven green bottles on a wall')
  await page.getByText('Good password').waitFor()
})

test('a person signs in, comes to where they wanted to go, and signs out', async (t) => {
  const portal = await somePortalInBrowser(t)
  const person = await portal.addPerson('Pat Owner')
  const page = await portal.newPage()

  await openSentOn(page, '/', /\/sign-in/)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await assertAccessible(page)
  await portal.signInOnPage(page, person)

  await page.goto('/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('button', { name: /Pat Owner/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/\/sign-in/)
  await openSentOn(page, '/', /\/sign-in/)
})

test('forms say in our words what an e-mail address lacks, and a refusal leads to what the guides say of it', async (t) => {
  const portal = await somePortalInBrowser(t)
  const page = await portal.newPage()
  await page.goto('/sign-in')
  const submit = page.getByRole('button', { name: 'Sign in', exact: true })
  await submit.click()
  await page.getByText('Enter your e-mail address.').waitFor()
  await page.getByText('Enter your password.').waitFor()
  await assertAccessible(page)

  await page.getByLabel('E-mail address').fill('nobody@example.com')
  await page.getByLabel(/^Password/).fill('not the right password')
  await submit.click()
  const about = page.getByRole('link', { name: 'About this error' })
  assert.equal(await about.getAttribute('href'), '/guides/errors#sign_in_refused')
  await assertAccessible(page)
})

test('the sign-in page loads less than 300 KB of scripts', async (t) => {
  const portal = await somePortalInBrowser(t)
  const page = await portal.newPage()
  let bytes = 0
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const scripts = new Set<string>()
  session.on('Network.responseReceived', ({ requestId, type }) => type === 'Script' && scripts.add(requestId))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength
  })

  await page.goto('/sign-in', { waitUntil: 'networkidle' })

  assert.ok(scripts.size > 0)
  assert.ok(bytes > 50_000 && bytes < 300_000, `${bytes} bytes`)
})
