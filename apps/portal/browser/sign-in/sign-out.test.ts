import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSentOn, somePortalInBrowser } from '../testing/test-browser.ts'

test('W09: signing out in Chromium takes a moment, and leaves neither a cookie nor anything that a page had stored', async (t) => {
  const world = await somePortalInBrowser(t)
  const page = await world.newPage()
  await world.signInOnPage(page, await world.addPerson())

  // As text, because it runs in the page.
  const outcome = await page.evaluate(`(async () => {
    localStorage.setItem('kept', 'something')
    const { csrf_token } = await (await fetch('/portal/api/session')).json()
    const answer = await fetch('/portal/api/auth/sign-out', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-csrf-token': csrf_token },
      body: '{}',
      signal: AbortSignal.timeout(20_000),
    })
    return { status: answer.status, body: await answer.json(), kept: localStorage.getItem('kept') }
  })()`)

  assert.deepEqual(outcome, { status: 200, body: { done: true }, kept: null })
  assert.deepEqual(await page.context().cookies(), [])
  await openSentOn(page, '/account', (address) => address.pathname === '/sign-in')
})
