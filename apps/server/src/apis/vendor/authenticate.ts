import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TokenIssuer, VerifiedToken } from '../../modules/credentials/access-token.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type LocationId, parseNumericId } from '../../platform/identity/identity.ts'

const verified = new WeakMap<FastifyRequest, VerifiedToken>()

/** Every route of this instance is for bearers of a token: verified here without the database, which each route asks on its own. */
export function requireToken(app: FastifyInstance, tokens: TokenIssuer): void {
  app.addHook('onRequest', async (request) => {
    const token = await verifyBearer(tokens, request.headers.authorization)
    verified.set(request, token)
    const { location_id: location = '' } = request.params as { location_id?: string }
    const locationId = parseNumericId<LocationId>(location)
    request.logNotes = {
      ...request.logNotes,
      companyId: token.companyId,
      keyPairId: token.keyPairId,
      ...(locationId !== null && { locationId }),
    }
  })
}

/** The token of a request that passed `requireToken`. */
export function tokenOf(request: FastifyRequest): VerifiedToken {
  const token = verified.get(request)
  if (!token) throw new Error('a protected route without its authentication hook')
  return token
}

/** Reads and verifies `Authorization: Bearer <token>`; the scheme's case does not matter. Throws token_required or token_invalid. */
export async function verifyBearer(tokens: TokenIssuer, header: string | undefined): Promise<VerifiedToken> {
  if (header === undefined) throw new Problem('token_required')
  const [, token] = /^Bearer +([\w.~+/=-]+) *$/i.exec(header) ?? []
  if (token === undefined) throw new Problem('token_invalid', { because: 'not a bearer token' })
  return tokens.verify(token)
}
