import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { sha256 } from './seal.ts'

/** What signs seals. */
export type SealKey = SealPublicKey & { sign: (text: string) => Buffer }

/** What seals are checked with. `text`: the 32 bytes of the key in base64url, to be published. */
export type SealPublicKey = { id: string; text: string; verifies: (text: string, signature: Uint8Array) => boolean }

/** The installation's key, from the seed that its secret key gives: nothing of it is in the database. */
export function sealKeyOf({ sealSeed }: { sealSeed: Uint8Array }): SealKey {
  // PKCS #8 of an Ed25519 key (RFC 8410, 7) is this prefix and the seed.
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  const privateKey = createPrivateKey({ key: Buffer.concat([prefix, sealSeed]), format: 'der', type: 'pkcs8' })
  return { ...publicKeyOf(createPublicKey(privateKey)), sign: (text) => sign(null, Buffer.from(text), privateKey) }
}

/** The key of its published text; null when the text is none. */
export function readSealPublicKey(text: string): SealPublicKey | null {
  if (!/^[\w-]{43}$/.test(text)) return null
  try {
    return publicKeyOf(createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: text }, format: 'jwk' }))
  } catch {
    return null
  }
}

function publicKeyOf(key: KeyObject): SealPublicKey {
  const { x = '' } = key.export({ format: 'jwk' })
  return {
    id: sha256(Buffer.from(x, 'base64url')).toString('hex').slice(0, 16),
    text: x,
    verifies: (text, signature) => verify(null, Buffer.from(text), key, signature),
  }
}
