import assert from 'node:assert/strict'
import { portalApiPath } from '@bridgework/contract/portal'
import type { createAuthenticator, Flaw } from './test-authenticator.ts'
import { cookiesOf, type PortalWorld, type SignedIn } from './test-portal.ts'

/** Adds a passkey in a session. */
export async function register(signed: SignedIn, key: ReturnType<typeof createAuthenticator>, flaw: Flaw = {}) {
  const options = await signed.get('/auth/passkey/generate-register-options')
  const cookie = `${signed.cookie}; ${cookiesOf(options)}`
  const body = { name: 'My key', response: key.register(options.body as never, flaw) }
  return { answer: await signed.send('POST', '/auth/passkey/verify-registration', body, { cookie }) }
}

/** Signs in with a passkey alone. */
export async function signInWith(world: PortalWorld, key: ReturnType<typeof createAuthenticator>, flaw: Flaw = {}) {
  const options = await world.request(`${portalApiPath}/auth/passkey/generate-authenticate-options`)
  assert.equal(options.body.userVerification, 'required')
  const response = key.signIn(options.body as never, flaw)
  const cookie = cookiesOf(options)
  const answer = await world.postPage('/auth/passkey/verify-authentication', { response }, { cookie })
  return { answer, cookie: cookiesOf(answer) }
}
