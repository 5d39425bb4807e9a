import { hash, randomUUID, verify } from 'node:crypto'
import { limits } from '@bridgework/contract'
import { SignJWT } from 'jose'
import { Problem } from '../../platform/errors/problem.ts'
import { type CompanyId, type KeyPairId, parseUuid } from '../../platform/identity/identity.ts'
import { BoundedMap } from '../../platform/memory/bounded-map.ts'
import type { KeyRing } from './key-ring.ts'

/**
 * What a token says of its bearer, its signature and times checked. No permission yet: whether the key pair still lives, only the
 * database knows (`requirePrincipal`, `permitRead`).
 */
export type VerifiedToken = {
  readonly companyId: CompanyId
  readonly keyPairId: KeyPairId
  readonly expiresAt: Date
}

export type TokenIssuer = {
  /** A new token of the key pair, good for six hours, or for less in a sandbox. */
  readonly issue: (companyId: CompanyId, keyPairId: KeyPairId, lifetimeSeconds?: number) => Promise<string>
  /** Throws Problem token_invalid for everything but a token that we signed, that has not expired, and whose key was not withdrawn. */
  readonly verify: (token: string) => Promise<VerifiedToken>
  /** The same for a token that was verified before, without waiting for anything; null: `verify` has to be asked. */
  readonly verifyAtOnce: (token: string) => VerifiedToken | null
}

/**
 * Issues and verifies access tokens. `issuer` is the public URL, `audience` the vendor API's base URL. Verified tokens are remembered
 * by their hash, so a token in use costs microseconds; what can end one (time, a withdrawn key) is checked on every call.
 */
export function createTokenIssuer(deps: {
  issuer: string
  audience: string
  keys: KeyRing
  now: () => Date
}): TokenIssuer {
  const { issuer, audience, keys, now } = deps
  const verified = new BoundedMap<string, VerifiedToken & { kid: string; issuedAt: Date }>(10_000)
  /** Tokens whose signature is wrong, which no later key makes right: sent again and again, they cost a hash each. */
  const forged = new BoundedMap<string, true>(10_000)

  const verifyAtOnce = (token: string): VerifiedToken | null => {
    const known = token.length > tokenLengthMax ? undefined : verified.get(digestOf(token))
    const key = known && keys.verifierAtOnce(known.kid)
    if (!known || key === undefined) return null
    requireTimes(known, now())
    if (key === null) throw refused('unknown key')
    return known
  }

  return {
    verifyAtOnce,
    issue: async (companyId, keyPairId, lifetimeSeconds = limits.tokenLifetimeSeconds) => {
      const { kid, privateKey } = await keys.signer()
      const iat = Math.floor(now().getTime() / 1000)
      return await new SignJWT({ cid: keyPairId })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(companyId)
        .setIssuedAt(iat)
        .setExpirationTime(iat + lifetimeSeconds)
        .setJti(randomUUID())
        .sign(privateKey)
    },
    verify: async (token) => {
      if (token.length > tokenLengthMax) throw refused('too long')
      const digest = digestOf(token)
      if (forged.get(digest)) throw refused('signature')
      const known = verified.get(digest)
      if (known) {
        requireTimes(known, now())
        if ((await keys.verifier(known.kid)) === null) throw refused('unknown key')
        return known
      }
      const { kid, payload, signed, signature } = readParts(token)
      const key = await keys.verifier(kid)
      if (key === null) throw refused('unknown key')
      const claims = readClaims(payload, { issuer, audience })
      // After the claims, which cost less to refuse. Not through jose, which repeats all of the above and takes twice as long: the form is
      // checked to the letter and the algorithm is the key's own, so what is left is one call.
      if (!verify(null, signed, key, signature)) {
        forged.set(digest, true)
        throw refused('signature')
      }
      const fresh = Object.freeze({ ...claims, kid })
      verified.set(digest, fresh)
      // After the signature: only of a token that we signed is it known whose it is.
      requireTimes(fresh, now())
      return fresh
    },
  }
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64url')
}

/** Ours have about 600 characters; the public URL, twice in them, is the part that varies. */
const tokenLengthMax = 4096

/** What a clock may be ahead that issued a token. */
const iatAheadMsMax = 60_000

function refused(because: string): Problem {
  return new Problem('token_invalid', { because })
}

/**
 * The parts of a token that has our form to the letter: three, each in the one canonical spelling, and a header of exactly the three
 * members that we write. So a header that names a key of its own (`jwk`, `jku`, `x5u`, `x5c`) or demands an extension (`crit`) is refused
 * by having it.
 */
function readParts(token: string): {
  kid: string
  payload: Record<string, unknown>
  signed: Buffer
  signature: Buffer
} {
  const parts = token.split('.', 4)
  const [header, payload, signature] = parts
  if (parts.length !== 3 || !header || !payload || signature?.length !== 86) throw refused('form')
  if (![header, payload, signature].every(isCanonical)) throw refused('spelling')
  const { alg, typ, kid, ...others } = readObject(header)
  if (alg !== 'EdDSA' || typ !== 'at+jwt' || typeof kid !== 'string' || Object.keys(others).length > 0)
    throw refused('header')
  return {
    kid,
    payload: readObject(payload),
    signed: Buffer.from(`${header}.${payload}`),
    signature: Buffer.from(signature, 'base64url'),
  }
}

/** Decoders forgive characters outside the alphabet and bits that do not count, so one token would have many spellings. */
function isCanonical(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part
}

function readObject(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Falls through to the one refusal.
  }
  throw refused('not an object')
}

function readClaims(
  payload: Record<string, unknown>,
  expected: { issuer: string; audience: string },
): VerifiedToken & { issuedAt: Date } {
  const { iss, aud, sub, cid, iat, exp } = payload
  if (iss !== expected.issuer || aud !== expected.audience) throw refused('issuer or audience')
  const companyId = typeof sub === 'string' ? parseUuid<CompanyId>(sub) : null
  const keyPairId = typeof cid === 'string' ? parseUuid<KeyPairId>(cid) : null
  if (companyId === null || keyPairId === null) throw refused('subject')
  if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp)) throw refused('times')
  // That the two exist and belong together, the database is asked at every request.
  return { companyId, keyPairId, issuedAt: new Date(Number(iat) * 1000), expiresAt: new Date(Number(exp) * 1000) }
}

/** A token that we signed, refused for its times: whose it was is known. */
export class RefusedToken extends Problem {
  readonly bearer: VerifiedToken

  constructor(bearer: VerifiedToken, because: string) {
    super('token_invalid', { because })
    this.bearer = bearer
  }
}

/** Each comparison asks for what must be so, because a date that cannot be compares as false. */
function requireTimes(token: VerifiedToken & { issuedAt: Date }, now: Date): void {
  const [issuedAtMs, expiresAtMs, nowMs] = [token.issuedAt.getTime(), token.expiresAt.getTime(), now.getTime()]
  if (!(issuedAtMs <= nowMs + iatAheadMsMax)) throw new RefusedToken(token, 'issued in the future')
  if (!(expiresAtMs - issuedAtMs <= limits.tokenLifetimeSeconds * 1000))
    throw new RefusedToken(token, 'too long a life')
  // No leeway: six hours are six hours.
  if (!(expiresAtMs > nowMs)) throw new RefusedToken(token, 'expired')
}
