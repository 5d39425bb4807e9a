import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** Of a key pair's halves, an agent's key, an enrolment code and an invitation. */
type SecretPrefix = 'bwc' | 'bws' | 'bwa' | 'bwe' | 'bwi'

/** A secret that we give out once: 256 random bits behind a prefix that tells people and secret scanners what it is. */
export function newSecret(prefix: SecretPrefix): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`
}

/** True for a text that `newSecret` could have made. Refuses the rest before anything is hashed or looked up. */
export function isSecret(prefix: SecretPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[\w-]{43}$/.test(text.slice(prefix.length + 1))
}

/** What one key of 32 bytes gives. Each use has a key of its own, so none can stand in for another. */
export type DerivedKeys = {
  /** Names the key where something is stored under it: the first 16 hex digits of `check`. */
  readonly id: string
  /**
   * What is stored in place of a secret. One fast hash and not a slow one: the secrets are 256 random bits, which no speed of guessing
   * finds, and a stranger's guess must not cost us milliseconds.
   */
  readonly hmac: (secret: string) => Buffer
  /** Key for what must be read again: the private halves of the token signing keys. */
  readonly sealingKey: Uint8Array
  /** What the portal's session cookies are signed with, and people's second factors sealed. */
  readonly sessionSecret: string
  /** Seed of the Ed25519 key that signs seals over disclosures and acts. */
  readonly sealSeed: Uint8Array
  /** Tells this key from another one without giving anything away about either. */
  readonly check: Buffer
}

/**
 * The installation's secret key, never itself visible: what it makes is useless in a stolen copy of the database alone. Its own members are
 * those of the current key, which everything new is made with. While a rotation lasts there are others, and what is stored may be under any
 * of them (docs/decisions/secret-key-rotation.md). One object for as long as the process lives: it follows the rotation.
 */
export type SecretKey = DerivedKeys & {
  readonly brand: 'SecretKey'
  /** Every key that the file has, the oldest first. */
  readonly all: () => readonly DerivedKeys[]
  /** The hash of a secret under every key, the oldest first: a stored one is one of these. */
  readonly hmacs: (secret: string) => Buffer[]
  /** Whether a stored hash of this secret was made with a key from before the current one, so that it should be stored anew. */
  readonly isOutdated: (secret: string, stored: Uint8Array) => boolean
  /** Takes these keys, the oldest first, and makes one of them current. False, and nothing happens, when none has that check. */
  readonly adopt: (keys: readonly DerivedKeys[], currentCheck: Uint8Array) => boolean
}

/** Makes the installation's key of one or more keys of 32 bytes, the oldest first. The last one is current. */
export function createSecretKey(...keys: readonly Uint8Array[]): SecretKey {
  return createSecretKeyOf(keys.map(deriveKeys))
}

/** As `createSecretKey`, of derived keys. */
export function createSecretKeyOf(derived: readonly DerivedKeys[]): SecretKey {
  let all = derived
  let current = lastOf(all)
  return {
    brand: 'SecretKey',
    get id() {
      return current.id
    },
    get sealingKey() {
      return current.sealingKey
    },
    get sessionSecret() {
      return current.sessionSecret
    },
    get sealSeed() {
      return current.sealSeed
    },
    get check() {
      return current.check
    },
    hmac: (secret) => current.hmac(secret),
    all: () => all,
    hmacs: (secret) => all.map((key) => key.hmac(secret)),
    isOutdated: (secret, stored) =>
      all.slice(0, all.indexOf(current)).some((key) => isSameHash(key.hmac(secret), stored)),
    adopt: (keys, currentCheck) => {
      const next = keys.find((key) => isSameHash(key.check, currentCheck))
      if (!next) return false
      all = keys
      current = next
      return true
    },
  }
}

/** Derives a key for each use from 32 bytes. */
export function deriveKeys(bytes: Uint8Array): DerivedKeys {
  if (bytes.length !== 32) throw new Error(`a secret key has 32 bytes, not ${bytes.length}`)
  const derive = (use: string) => new Uint8Array(hkdfSync('sha256', bytes, '', `bridgework ${use}`, 32))
  const hmacKey = derive('stored secrets')
  const check = Buffer.from(derive('check'))
  return {
    id: check.toString('hex', 0, 8),
    hmac: (secret) => createHmac('sha256', hmacKey).update(secret).digest(),
    sealingKey: derive('signing keys'),
    sessionSecret: Buffer.from(derive('portal sessions')).toString('base64url'),
    sealSeed: derive('seals'),
    check,
  }
}

function lastOf(keys: readonly DerivedKeys[]): DerivedKeys {
  const last = keys.at(-1)
  if (!last) throw new Error('an installation has at least one secret key')
  return last
}

/** Compares two hashes in a time that depends on neither's content. */
export function isSameHash(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}
