import { EncryptJWT, jwtDecrypt } from 'jose'
import { sealedHeader, sealingKeyOf } from '../credentials/sealed-text.ts'
import type { SecretKey } from '../credentials/secret.ts'
import type { Checks } from './open-id-connect.ts'

/**
 * A sign-in at a provider that a browser has begun. `purpose`: `sign_in` as the member who is linked; `link` the signed-in member, in the
 * session of that id; `test` the settings, in the owner's session; `accept` an invitation, with a new account of that name.
 */
export type SignInFlow = { providerId: string; next: string; checks: Checks } & (
  | { purpose: 'sign_in' }
  | { purpose: 'link'; sessionId: string }
  | { purpose: 'test'; sessionId: string }
  | { purpose: 'accept'; token: string; name: string }
)

/** How long a person may take at the provider. */
export const flowLifetimeSeconds = 10 * 60

/** The flow for the browser's cookie: encrypted, so that neither the page nor the person reads or makes one. */
export async function sealFlow(secretKey: SecretKey, flow: SignInFlow): Promise<string> {
  return await new EncryptJWT({ flow })
    .setProtectedHeader(sealedHeader(secretKey))
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(`${flowLifetimeSeconds}s`)
    .encrypt(secretKey.sealingKey)
}

/** The flow that this browser began within the last 10 minutes; null for anything else. */
export async function unsealFlow(secretKey: SecretKey, sealed: string): Promise<SignInFlow | null> {
  try {
    const { payload } = await jwtDecrypt(sealed, sealingKeyOf(secretKey), { audience })
    // Only `sealFlow` makes one for this audience.
    return payload.flow as SignInFlow
  } catch {
    return null
  }
}

const audience = 'identity provider sign-in'
