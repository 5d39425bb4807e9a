import type { FastifyInstance, FastifyRequest } from 'fastify'
import { clientIpHeader } from '../sign-in/auth.ts'
import type { PortalContext } from './context.ts'

/** The doors of better-auth that the portal uses, and no other: what is not here does not exist. */
const authRoutes = [
  ['POST', '/sign-in/email'],
  ['POST', '/sign-out'],
  ['POST', '/send-verification-email'],
  ['GET', '/verify-email'],
  ['POST', '/request-password-reset'],
  ['POST', '/reset-password'],
  ['POST', '/change-password'],
  ['POST', '/two-factor/enable'],
  ['POST', '/two-factor/disable'],
  ['POST', '/two-factor/verify-totp'],
  ['POST', '/two-factor/verify-backup-code'],
  ['POST', '/two-factor/generate-backup-codes'],
  ['GET', '/passkey/generate-register-options'],
  ['POST', '/passkey/verify-registration'],
  ['GET', '/passkey/generate-authenticate-options'],
  ['POST', '/passkey/verify-authentication'],
  ['GET', '/passkey/list-user-passkeys'],
  ['POST', '/passkey/delete-passkey'],
] as const

/** Hands sign-in on to better-auth. */
export function registerAuth(app: FastifyInstance, { auth, publicUrl }: PortalContext): void {
  for (const [method, path] of authRoutes) {
    app.route({
      method,
      url: `/auth${path}`,
      handler: async (request, reply) => {
        const response = await auth.handler(
          new Request(new URL(request.raw.url ?? '', publicUrl), {
            method,
            headers: webHeaders(request),
            ...(method === 'POST' && { body: JSON.stringify(request.body ?? {}) }),
          }),
        )
        reply.code(response.status)
        for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie)
        return reply
          .header('content-type', response.headers.get('content-type') ?? 'application/json; charset=utf-8')
          .send(await response.text())
      },
    })
  }
}

/** A request's headers for better-auth, with the caller's address as we worked it out. */
export function webHeaders(request: FastifyRequest): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    // The body is written anew, so its old length and packing are not true any more.
    if (value === undefined || ['content-length', 'transfer-encoding', 'connection', clientIpHeader].includes(name))
      continue
    headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  headers.set(clientIpHeader, request.clientIp)
  return headers
}
