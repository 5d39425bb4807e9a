import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { EncryptJWT } from 'jose'
import { sealedHeader, sealText } from '../credentials/sealed-text.ts'
import { createSecretKey, type DerivedKeys } from '../credentials/secret.ts'
import { type SignInFlow, sealFlow, unsealFlow } from './sign-in-flow.ts'

const keys = [randomBytes(32), randomBytes(32)]
const [earlier, secretKey] = [createSecretKey(...keys.slice(0, 1)), createSecretKey(...keys)]
const flow: SignInFlow = {
  providerId: 'p',
  next: '/',
  checks: { state: 's', nonce: 'n', verifier: 'v' },
  purpose: 'sign_in',
}

/** A token with a flow, sealed with this key as `sealFlow` does it, but for what `change` makes of it. */
async function sealedAs(key: DerivedKeys, change: (token: EncryptJWT) => EncryptJWT): Promise<string> {
  const token = new EncryptJWT({ flow }).setProtectedHeader(sealedHeader(key)).setIssuedAt().setExpirationTime('10m')
  return await change(token).encrypt(key.sealingKey)
}

test('W20: a sign-in under way is known again for ten minutes, also over a rotation of the key', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
  const sealed = [await sealFlow(secretKey, flow), await sealFlow(earlier, flow)]
  t.mock.timers.tick(10 * 60_000 - 1000)
  for (const each of sealed) assert.deepEqual(await unsealFlow(secretKey, each), flow)
  t.mock.timers.tick(1000)
  for (const each of sealed) assert.equal(await unsealFlow(secretKey, each), null)
})

test('W20: nothing else that the service seals is a sign-in under way', async () => {
  const stranger = createSecretKey(randomBytes(32))
  const sealed = await sealFlow(secretKey, flow)
  const middle = sealed.length / 2
  for (const other of [
    await sealFlow(stranger, flow),
    await sealText(secretKey, JSON.stringify({ flow })),
    await sealedAs(secretKey, (token) => token),
    await sealedAs(secretKey, (token) => token.setAudience('')),
    await sealedAs(secretKey, (token) => token.setAudience('another use')),
    `${sealed.slice(0, middle)}${sealed.at(middle) === 'A' ? 'B' : 'A'}${sealed.slice(middle + 1)}`,
    sealed.slice(0, middle),
    '',
  ])
    assert.equal(await unsealFlow(secretKey, other), null, other)
})
