import type { FastifyRequest } from 'fastify'
import { type DerivedKeys, isSameHash, type SecretKey } from '../../../modules/credentials/secret.ts'
import type { Person } from '../../../modules/sign-in/person.ts'
import { Problem } from '../../../platform/errors/problem.ts'

/** The token that a session's requests carry in X-CSRF-Token: bound to the session, so that of another or an older one is worth nothing. */
export function csrfTokenOf(secretKey: DerivedKeys, person: Person): string {
  return secretKey.hmac(`csrf ${person.sessionId}`).toString('base64url')
}

/** Throws Problem csrf_token_invalid. */
export function requireCsrfToken(
  secretKey: SecretKey,
  person: Person,
  request: { headers: Readonly<Record<string, unknown>> },
): void {
  const sent = Buffer.from(String(request.headers['x-csrf-token'] ?? ''))
  const own = secretKey.all().map((key) => Buffer.from(csrfTokenOf(key, person)))
  if (!own.some((token) => isSameHash(sent, token))) throw new Problem('csrf_token_invalid')
}

/** A browser says which page sent a request that changes something: ours, or it is refused. Throws Problem origin_denied. */
export function requireOwnOrigin(publicUrl: string, request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (origin === undefined ? site !== undefined && site !== 'same-origin' : origin !== publicUrl) {
    throw new Problem('origin_denied')
  }
}
