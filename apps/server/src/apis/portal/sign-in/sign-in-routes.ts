import { type SignInRouteName, signInBodies, signInRoutes } from '@bridgework/contract/portal'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { beginRequest, requireNotRecovered } from '../../../modules/recovery/request-beginning.ts'
import { recordAccountEvent } from '../../../modules/sign-in/account-event.ts'
import { clientIpHeader } from '../../../modules/sign-in/auth.ts'
import { authenticatePerson, isFresh, type Person } from '../../../modules/sign-in/person.ts'
import { endSession } from '../../../modules/sign-in/store.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { readJson } from '../../../platform/http/body/read-json.ts'
import type { PortalContext } from '../shared/context.ts'
import { requireCsrfToken } from '../shared/csrf.ts'
import type { SignInCall, SignInHandler } from './sign-in-call.ts'
import { signInHandlers } from './sign-in-handlers.ts'
/** The routes of sign-in, from the contract's table: what is not there does not exist, whatever better-auth has. */
export function registerAuth(app: FastifyInstance, context: PortalContext): void {
  for (const name of Object.keys(signInRoutes) as SignInRouteName[]) registerDoor(app, context, name)
}

function registerDoor(app: FastifyInstance, context: PortalContext, name: SignInRouteName): void {
  const { method, path } = signInRoutes[name]
  app.route({
    method,
    url: path,
    bodyLimit: 64 * 1024,
    handler: async (request, reply) => {
      const headers = webHeaders(request)
      const { person } = await authenticatePerson(context.auth, headers, context.now())
      requireGate(context, name, person, request)
      const call = { headers, body: readBody(name, request), person, ip: request.clientIp, requestId: request.id }
      // The table says which routes have a gate, and a gate lets a person through.
      const beginning = await beginRequest(context.pool)
      const outcome = await (signInHandlers[name] as SignInHandler<SignInRouteName>)(context, call as SignInCall)
      const userId = outcome.event?.user.id ?? person?.userId
      if (userId !== undefined && !givesBack(name)) {
        await requireNotRecovered(context.pool, context.secretKey, userId, beginning)
      }
      for (const cookie of outcome.headers?.getSetCookie() ?? []) reply.header('set-cookie', cookie)
      if (name === 'signOut') reply.header('clear-site-data', '"cache", "cookies", "storage"')
      // A new sign-in ends the session before: a cookie that was planted or forgotten is worth nothing.
      if (person && beginsSession(name)) await endSession(context.pool, person.userId, person.sessionId)
      if (outcome.event) {
        await recordAccountEvent(context.pool, { ...outcome.event, ip: request.clientIp, requestId: request.id })
      }
      return outcome.answer
    },
  })
}

/** Ends what others began, and begins no session itself. */
function givesBack(name: SignInRouteName): boolean {
  return name === 'resetPassword' || name === 'undoEmailChange'
}

function beginsSession(name: SignInRouteName): boolean {
  return name === 'signIn' || name === 'signInWithPasskey'
}

function requireGate(
  context: PortalContext,
  name: SignInRouteName,
  person: Person | null,
  request: FastifyRequest,
): void {
  const { gate, method } = signInRoutes[name]
  if (gate === 'anyone' && name !== 'signOut') return
  if (!person) {
    if (gate === 'challenge' || name === 'signOut') return
    throw new Problem('sign_in_required')
  }
  if (name !== 'signOut') requireFullSignIn(person)
  if (method !== 'GET') requireCsrfToken(context.secretKey, person, request)
  if ((gate === 'fresh' || gate === 'challenge') && !isFresh(person, context.now())) {
    throw new Problem('fresh_sign_in_required')
  }
}

/**
 * Throws Problem full_sign_in_required when an identity provider began the session. A provider can sign in as any of its members, and must
 * not get by that to their account, and through it to what they do elsewhere.
 */
export function requireFullSignIn(person: Person): void {
  if (person.identityProviderId !== null) throw new Problem('full_sign_in_required')
}

/** The members that the route names, and no other. */
function readBody(name: SignInRouteName, request: FastifyRequest): unknown {
  const schemas: Partial<Record<SignInRouteName, TObject>> = signInBodies
  const schema = schemas[name]
  if (schema === undefined) return undefined
  const body = readJson(schema, request.body)
  return Object.fromEntries(Object.entries(body).filter(([member]) => Object.hasOwn(schema.properties, member)))
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
