import { hash, randomUUID } from 'node:crypto'
import { limits } from '@bridgework/contract'
import { jwtVerify, SignJWT } from 'jose'
import { type CompanyId, type KeyPairId, parseUuid } from '../directory/identity.ts'
import { Problem } from '../http/problem.ts'
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
  /** A new token of the key pair, good for six hours. */
  readonly issue: (companyId: CompanyId, keyPairId: KeyPairId) => Promise<string>
  /** Throws Problem token_invalid for everything but a token that we signed, that has not expired, and whose key was not withdrawn. */
  readonly verify: (token: string) => Promise<VerifiedToken>
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
  const verified = new Map<string, VerifiedToken & { kid: string }>()

  const remember = (digest: string, token: VerifiedToken & { kid: string }) => {
    // A Map keeps the order of insertion: the first one is the longest unused.
    if (verified.size >= rememberedMax) {
      const oldest = verified.keys().next().value
      if (oldest !== undefined) verified.delete(oldest)
    }
    verified.set(digest, token)
  }

  return {
    issue: async (companyId, keyPairId) => {
      const { kid, privateKey } = await keys.signer()
      const iat = Math.floor(now().getTime() / 1000)
      return await new SignJWT({ cid: keyPairId })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(companyId)
        .setIssuedAt(iat)
        .setExpirationTime(iat + limits.tokenLifetimeSeconds)
        .setJti(randomUUID())
        .sign(privateKey)
    },
    verify: async (token) => {
      if (token.length > tokenLengthMax) throw refused('too long')
      const digest = hash('sha256', token, 'base64url')
      const known = verified.get(digest)
      if (known) {
        verified.delete(digest)
        if (known.expiresAt.getTime() <= now().getTime()) throw refused('expired')
        if ((await keys.verifier(known.kid)) === null) throw refused('unknown key')
        remember(digest, known)
        return known
      }
      const parts = readParts(token)
      const key = await keys.verifier(parts.kid)
      if (key === null) throw refused('unknown key')
      const claims = readClaims(parts.payload, { issuer, audience, now: now() })
      // After the claims, which cost less to refuse. The list of algorithms is ours and never the token's.
      await jwtVerify(token, key, { algorithms: ['EdDSA'], issuer, audience, currentDate: now() }).catch((cause) => {
        throw refused('signature', cause)
      })
      const fresh = Object.freeze({ ...claims, kid: parts.kid })
      remember(digest, fresh)
      return fresh
    },
  }
}

const rememberedMax = 10_000

/** Ours have about 600 characters; the public URL, twice in them, is the part that varies. */
const tokenLengthMax = 4096

/** What a clock may be ahead that issued a token, in seconds. */
const iatAheadMax = 60

function refused(because: string, cause?: unknown): Problem {
  return new Problem('token_invalid', { because, cause })
}

/**
 * The header's `kid` and the payload of a token that has our form to the letter: three parts, each in the one canonical spelling, and a
 * header of exactly the three members that we write. So a header that names a key of its own (`jwk`, `jku`, `x5u`, `x5c`) or demands an
 * extension (`crit`) is refused by having it.
 */
function readParts(token: string): { kid: string; payload: Record<string, unknown> } {
  const parts = token.split('.', 4)
  const [header, payload, signature] = parts
  if (parts.length !== 3 || !header || !payload || signature?.length !== 86) throw refused('form')
  if (![header, payload, signature].every(isCanonical)) throw refused('spelling')
  const { alg, typ, kid, ...others } = readObject(header)
  if (alg !== 'EdDSA' || typ !== 'at+jwt' || typeof kid !== 'string' || Object.keys(others).length > 0)
    throw refused('header')
  return { kid, payload: readObject(payload) }
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
  expected: { issuer: string; audience: string; now: Date },
): VerifiedToken {
  const { iss, aud, sub, cid, iat, exp } = payload
  if (iss !== expected.issuer || aud !== expected.audience) throw refused('issuer or audience')
  const companyId = typeof sub === 'string' ? parseUuid<CompanyId>(sub) : null
  const keyPairId = typeof cid === 'string' ? parseUuid<KeyPairId>(cid) : null
  if (companyId === null || keyPairId === null) throw refused('subject')
  if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp)) throw refused('times')
  const nowSeconds = expected.now.getTime() / 1000
  if (Number(iat) > nowSeconds + iatAheadMax) throw refused('issued in the future')
  if (Number(exp) <= nowSeconds) throw refused('expired')
  // That the two exist and belong together, the database is asked at every request.
  return { companyId, keyPairId, expiresAt: new Date(Number(exp) * 1000) }
}
