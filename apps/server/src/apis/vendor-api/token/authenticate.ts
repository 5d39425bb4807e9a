import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RefusedToken, type TokenIssuer, type VerifiedToken } from '../../../modules/credentials/access-token.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { type LocationId, parseNumericId } from '../../../platform/identity/identity.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a request that passed `requireToken`: see `tokenOf`. */
    verifiedToken: VerifiedToken | null
  }
}

/** Every route of this instance is for bearers of a token: verified here without the database, which each route asks on its own. */
export function requireToken(app: FastifyInstance, tokens: TokenIssuer): void {
  app.decorateRequest('verifiedToken', null)
  // Not async: most tokens were verified before, and each promise of a hook is one more for every request.
  app.addHook('onRequest', (request, _reply, done) => {
    const pass = (token: VerifiedToken) => {
      request.verifiedToken = token
      const { location_id: location = '' } = request.params as { location_id?: string }
      request.logNotes.locationId = parseNumericId<LocationId>(location) ?? undefined
      done()
    }
    const token = bearerAtOnce(tokens, request)
    if (token) pass(token)
    else verifyBearer(tokens, request).then(pass, done)
  })
}

/** The token of a request that passed `requireToken`. */
export function tokenOf(request: FastifyRequest): VerifiedToken {
  if (!request.verifiedToken) throw new Error('a protected route without its authentication hook')
  return request.verifiedToken
}

/**
 * Reads and verifies `Authorization: Bearer <token>`, in any case, and notes whose it is for the log. Throws token_required or token_invalid.
 */
export async function verifyBearer(tokens: TokenIssuer, request: FastifyRequest): Promise<VerifiedToken> {
  const text = readBearer(request)
  try {
    const token = await tokens.verify(text)
    noteBearer(request, token)
    return token
  } catch (error) {
    if (error instanceof RefusedToken) {
      noteBearer(request, error.bearer)
      request.logNotes.isUnproved = true
    }
    throw error
  }
}

/** The same where nothing has to be waited for; null: it has, or the token is refused. */
function bearerAtOnce(tokens: TokenIssuer, request: FastifyRequest): VerifiedToken | null {
  try {
    const token = tokens.verifyAtOnce(readBearer(request))
    if (token) noteBearer(request, token)
    return token
  } catch {
    return null
  }
}

function readBearer({ headers: { authorization } }: FastifyRequest): string {
  if (authorization === undefined) throw new Problem('token_required')
  const [, text] = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization) ?? []
  if (text === undefined) throw new Problem('token_invalid', { because: 'not a bearer token' })
  return text
}

/** Notes for the log whose key pair a request uses, or names. */
export function noteBearer(
  { logNotes }: FastifyRequest,
  { companyId, keyPairId }: Pick<VerifiedToken, 'companyId' | 'keyPairId'>,
): void {
  logNotes.companyId = companyId
  logNotes.keyPairId = keyPairId
}
