import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RefusedToken, type TokenIssuer, type VerifiedToken } from '../../modules/credentials/access-token.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type LocationId, parseNumericId } from '../../platform/identity/identity.ts'

const verified = new WeakMap<FastifyRequest, VerifiedToken>()

/** Every route of this instance is for bearers of a token: verified here without the database, which each route asks on its own. */
export function requireToken(app: FastifyInstance, tokens: TokenIssuer): void {
  app.addHook('onRequest', async (request) => {
    verified.set(request, await verifyBearer(tokens, request))
    const { location_id: location = '' } = request.params as { location_id?: string }
    const locationId = parseNumericId<LocationId>(location)
    if (locationId !== null) request.logNotes = { ...request.logNotes, locationId }
  })
}

/** The token of a request that passed `requireToken`. */
export function tokenOf(request: FastifyRequest): VerifiedToken {
  const token = verified.get(request)
  if (!token) throw new Error('a protected route without its authentication hook')
  return token
}

/**
 * Reads and verifies `Authorization: Bearer <token>`, in any case, and notes whose it is for the log. Throws token_required or token_invalid.
 */
export async function verifyBearer(tokens: TokenIssuer, request: FastifyRequest): Promise<VerifiedToken> {
  const header = request.headers.authorization
  if (header === undefined) throw new Problem('token_required')
  const [, text] = /^Bearer +([\w.~+/=-]+) *$/i.exec(header) ?? []
  if (text === undefined) throw new Problem('token_invalid', { because: 'not a bearer token' })
  try {
    const token = await tokens.verify(text)
    note(request, token)
    return token
  } catch (error) {
    if (error instanceof RefusedToken) {
      note(request, error.bearer)
      request.logNotes = { ...request.logNotes, isUnproved: true }
    }
    throw error
  }
}

function note(request: FastifyRequest, { companyId, keyPairId }: VerifiedToken): void {
  request.logNotes = { ...request.logNotes, companyId, keyPairId }
}
