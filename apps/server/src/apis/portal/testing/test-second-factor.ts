import assert from 'node:assert/strict'
import { cookiesOf, type PortalWorld, password, type SignedIn } from './test-portal.ts'
import { codeOf } from './test-totp.ts'

/** A person who has just set up an authenticator app; `signed` is the session in which they did. */
export async function someoneWithTotp(world: PortalWorld) {
  const person = await world.addPerson()
  return { person, ...(await setUpTotp(world, await world.signIn(person))) }
}

/** Sets up an authenticator app in a session, which another one replaces. */
export async function setUpTotp(world: Pick<PortalWorld, 'asPage'>, first: SignedIn) {
  const enabled = await first.post('/auth/two-factor/enable', { password })
  assert.equal(enabled.status, 200, enabled.text)
  const uri = new URL(String(enabled.body.totp_uri))
  const secret = uri.searchParams.get('secret') ?? ''
  const verified = await first.post('/auth/two-factor/verify-totp', { code: codeOf(secret, 0) })
  assert.equal(verified.status, 200, verified.text)
  return {
    signed: world.asPage(cookiesOf(verified)),
    secret,
    codes: enabled.body.recovery_codes as string[],
  }
}
