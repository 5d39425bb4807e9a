import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** Of a key pair's halves, an agent's key, an enrolment code and an invitation. */
type SecretPrefix = 'bwc' | 'bws' | 'bwa' | 'bwe' | 'bwi'

/** A secret that we give out once: 256 random bits behind a prefix that tells people and secret scanners what it is. */
export function newSecret(prefix: SecretPrefix): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`
}

/** True for a text that `newSecret` could have made. Refuses the rest before anything is hashed or looked up. */
export function isSecret(prefix: SecretPrefix, text: string): boolean {
  return text.length === prefix.length + 44 && text.startsWith(`${prefix}_`) && /^[\w-]{43}$/.test(text.slice(-43))
}

/** The installation's secret key, never itself visible. What it makes is useless in a stolen copy of the database alone. */
export type SecretKey = {
  readonly brand: 'SecretKey'
  /**
   * What is stored in place of a secret. One fast hash and not a slow one: the secrets are 256 random bits, which no speed of guessing
   * finds, and a stranger's guess must not cost us milliseconds.
   */
  readonly hmac: (secret: string) => Buffer
  /** Key for what must be read again: the private halves of the token signing keys. */
  readonly sealingKey: Uint8Array
  /** What backups are sealed with. */
  readonly backupKey: Uint8Array
  /** What the portal's session cookies are signed with, and people's second factors sealed. */
  readonly sessionSecret: string
  /** Seed of the Ed25519 key that signs seals over disclosures and acts. */
  readonly sealSeed: Uint8Array
  /** Tells this key from another one without giving anything away about either. */
  readonly check: Buffer
}

/** Makes the installation's key of its 32 bytes. Each use has its own key derived from them, so none can stand in for another. */
export function createSecretKey(bytes: Uint8Array): SecretKey {
  if (bytes.length !== 32) throw new Error(`a secret key has 32 bytes, not ${bytes.length}`)
  const derive = (use: string) => new Uint8Array(hkdfSync('sha256', bytes, '', `bridgework ${use}`, 32))
  const hmacKey = derive('stored secrets')
  return {
    brand: 'SecretKey',
    hmac: (secret) => createHmac('sha256', hmacKey).update(secret).digest(),
    sealingKey: derive('signing keys'),
    backupKey: derive('backups'),
    sessionSecret: Buffer.from(derive('portal sessions')).toString('base64url'),
    sealSeed: derive('seals'),
    check: Buffer.from(derive('check')),
  }
}

/** Compares two hashes in a time that depends on neither's content. */
export function isSameHash(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}
