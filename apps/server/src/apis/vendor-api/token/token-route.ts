import { limits } from '@bridgework/contract'
import type { FastifyInstance } from 'fastify'
import { Compile } from 'typebox/compile'
import { verifyKeyPair } from '../../../modules/credentials/verify-key-pair.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { VendorApiContext } from '../context.ts'
import { tokenSchema } from '../openapi/schemas.ts'
import { noteBearer } from './authenticate.ts'

/** spec: POST /auth/token. The one route of the vendor API without a token. */
export function registerTokenRoute(app: FastifyInstance, context: VendorApiContext): void {
  const { controlPool, secretKey, tokens, tokenLimit, faults, log } = context
  app.post('/auth/token', { schema: tokenSchema, bodyLimit: limits.tokenBodyBytesMax }, async (request, reply) => {
    // After the body has arrived: a request that is never finished is charged to nobody.
    const verdict = await tokenLimit.admit(request.clientIp)
    reply.headers(tokenLimit.headersOf(verdict))
    if (!verdict.admitted)
      throw new Problem('token_requests_exceeded', { retryAfterSeconds: verdict.retryAfterSeconds })
    const { client_id: clientId, client_secret: clientSecret } = readCredentials(request.body)
    const result = await verifyKeyPair(controlPool, secretKey, clientId, clientSecret)
    if ('refused' in result) {
      log({ event: 'token.refused', because: result.refused })
      if ('named' in result) {
        noteBearer(request, result.named)
        request.logNotes.isUnproved = true
      }
      throw new Problem('credentials_invalid', { because: result.refused })
    }
    noteBearer(request, result)
    const { companyId, keyPairId } = result
    return { token: await tokens.issue(companyId, keyPairId, faults?.tokenLifetimeSeconds(companyId)) }
  })
}

const credentials = Compile(tokenSchema.body)

function readCredentials(body: unknown): { client_id: string; client_secret: string } {
  if (credentials.Check(body)) return body
  const [error] = credentials.Errors(body)
  const isTooLong = error?.keyword === 'maxLength'
  throw new Problem('credentials_malformed', isTooLong ? { errors: `${error.instancePath.slice(1)} is too long` } : {})
}
