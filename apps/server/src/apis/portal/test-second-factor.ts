import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { cookiesOf, type PortalWorld, password, type SignedIn } from './test-portal.ts'

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

/** The one-time password of a moment (RFC 6238), as an authenticator app shows it that was given the secret in base 32. */
export function codeOf(secret: string, laterMs: number): string {
  const bits = [...secret].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  )
  const bytes = bits.join('').match(/.{8}/g) ?? []
  const key = Buffer.from(bytes.map((each) => Number.parseInt(each, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor((Date.now() + laterMs) / 30_000)))
  const mac = createHmac('sha1', key).update(step).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}
