import { CompactEncrypt, type CompactJWEHeaderParameters, compactDecrypt, decodeProtectedHeader } from 'jose'
import type { DerivedKeys, SecretKey } from './secret.ts'

/** Seals a text that must be read again, so that a copy of the database alone does not give it away: a compact JWE that names its key. */
export async function sealText(secretKey: DerivedKeys, text: string): Promise<string> {
  return await new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader(sealedHeader(secretKey))
    .encrypt(secretKey.sealingKey)
}

/** Throws where the text was sealed with none of these keys, or was changed since. */
export async function unsealText(secretKey: SecretKey, sealed: string): Promise<string> {
  return new TextDecoder().decode((await compactDecrypt(sealed, sealingKeyOf(secretKey))).plaintext)
}

/** Whether a text is sealed with the current key. */
export function isSealedAnew(secretKey: DerivedKeys, sealed: string): boolean {
  return decodeProtectedHeader(sealed).kid === secretKey.id
}

/** The header of what this key seals. */
export function sealedHeader({ id }: DerivedKeys) {
  return { alg: 'dir', enc: 'A256GCM', kid: id } as const
}

/** Which key opens a JWE, by its header. What names none is from before the first rotation. */
export function sealingKeyOf(
  secretKey: SecretKey,
): (header: CompactJWEHeaderParameters | { kid?: string }) => Uint8Array {
  return ({ kid }) => {
    const key = kid === undefined ? secretKey.all()[0] : secretKey.all().find(({ id }) => id === kid)
    if (!key) throw new Error('a text is sealed with a secret key that the file does not have')
    return key.sealingKey
  }
}
