import type { KeyObject } from 'node:crypto'
import type { JWK } from 'jose'
import type { Pool } from 'pg'
import type { Log } from '../../platform/log/log-event.ts'
import { createLoop } from '../../platform/loop/loop.ts'
import type { SecretKey } from './secret.ts'
import { ensureSigningKey, type LoadedSigningKey, loadSigningKeys } from './signing-key.ts'

/** The signing keys as one process holds them: never more than a second behind the database. */
export type KeyRing = {
  /** The key that a token is signed with now. */
  readonly signer: () => Promise<{ kid: string; privateKey: CryptoKey }>
  /** The key that verifies tokens of that `kid`; null when there is none, or none any more. Asks nothing of the database for a `kid`. */
  readonly verifier: (kid: string) => Promise<KeyObject | null>
  /** The same where the keys need not be read for it, as most often; undefined: they are too old, so ask `verifier`. */
  readonly verifierAtOnce: (kid: string) => KeyObject | null | undefined
  /** The public keys, for /.well-known/jwks.json. */
  readonly jwks: () => Promise<{ keys: JWK[] }>
  readonly refresh: () => Promise<void>
  readonly close: () => Promise<void>
}

/** How long a new key waits before it signs, so that every process has read it before it sees a token that it signed. */
const leadMs = 2000

/** Older than this, what was read is not used any more: a withdrawn key must not verify because the database was slow to answer. */
const ageMsMax = 1000

/**
 * Reads the signing keys, makes the first one when there is none, and reads them again every `pollMs`. Reading on a timer and never for
 * a token's `kid` keeps a flood of invented ones away from the database; a listening connection would see a change sooner, but would
 * need its own care when it breaks, and does not pass through a connection pooler.
 */
export async function openKeyRing(deps: {
  pool: Pool
  secretKey: SecretKey
  log: Log
  pollMs?: number
}): Promise<KeyRing> {
  const { pool, secretKey, log, pollMs = 400 } = deps
  let keys: ReadonlyMap<string, LoadedSigningKey> = new Map()
  let readAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | null = null

  const read = async () => {
    const startedAtMs = performance.now()
    const loaded = await loadSigningKeys(pool, secretKey, keys)
    keys = new Map(loaded.map((key) => [key.kid, key]))
    readAtMs = startedAtMs
  }
  /** At most one reading at a time, however many wait for it. */
  const refresh = () => {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }
  const isFresh = () => performance.now() - readAtMs <= ageMsMax
  const freshKeys = async () => {
    if (!isFresh()) await refresh()
    return keys
  }

  await ensureSigningKey(pool, secretKey)
  await refresh()
  const loop = createLoop({ steps: { 'read signing keys': refresh }, everyMs: pollMs, log })
  loop.start()

  return {
    signer: async () => chooseSigner(await freshKeys(), performance.now() - readAtMs),
    verifier: async (kid) => (await freshKeys()).get(kid)?.publicKey ?? null,
    verifierAtOnce: (kid) => (isFresh() ? (keys.get(kid)?.publicKey ?? null) : undefined),
    jwks: async () => ({ keys: [...(await freshKeys()).values()].map((key) => key.publicJwk) }),
    refresh,
    close: async () => {
      await loop.stop()
      await reading?.catch(() => {})
    },
  }
}

/** The newest key that every process knows by now; while there is none, the one that they have known longest. */
function chooseSigner(keys: ReadonlyMap<string, LoadedSigningKey>, sinceReadMs: number) {
  const canSign = [...keys.values()].filter((key) => key.privateKey !== null)
  const key = canSign.find((candidate) => candidate.ageMs + sinceReadMs >= leadMs) ?? canSign.at(-1)
  if (!key?.privateKey) throw new Error('there is no signing key')
  return { kid: key.kid, privateKey: key.privateKey }
}
