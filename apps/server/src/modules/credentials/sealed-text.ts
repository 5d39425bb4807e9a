import { CompactEncrypt, compactDecrypt } from 'jose'
import type { SecretKey } from './secret.ts'

/** Seals a text that must be read again, so that a copy of the database alone does not give it away: a compact JWE. */
export async function sealText(secretKey: SecretKey, text: string): Promise<string> {
  return await new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .encrypt(secretKey.sealingKey)
}

/** Throws where the text was not sealed with this key, or was changed since. */
export async function unsealText(secretKey: SecretKey, sealed: string): Promise<string> {
  return new TextDecoder().decode((await compactDecrypt(sealed, secretKey.sealingKey)).plaintext)
}
