import { createPublicKey, type KeyObject } from 'node:crypto'

/** Written into the bundle when it is built; not there when the sources run. */
declare const BRIDGEWORK_UPDATE_KEY: string

/** The key (Ed25519) that signs releases for this build; null: this build takes no updates. */
export function pinnedKey(): KeyObject | null {
  const pem = typeof BRIDGEWORK_UPDATE_KEY === 'undefined' ? '' : BRIDGEWORK_UPDATE_KEY
  return pem === '' ? null : createPublicKey(pem)
}
