import { type PortalRouteName, portalBodies, portalRoutes } from '@bridgework/contract/portal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { authenticatePerson, type Person } from '../../modules/sign-in/person.ts'
import { noteSessionUse } from '../../modules/sign-in/session-use.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { readJson } from '../../platform/http/body/read-json.ts'
import { rawQuery } from '../../platform/http/server.ts'
import { accountHandlers } from './account/account.ts'
import { memberSessionHandlers } from './account/member-sessions.ts'
import { companyHandlers } from './company/company.ts'
import { companyProfileHandlers } from './company/company-profile.ts'
import { referenceTokenHandlers } from './company/reference-token.ts'
import { sandboxHandlers } from './company/sandbox.ts'
import { sandboxRequestHandlers } from './company/sandbox-request.ts'
import { usageHandlers } from './company/usage.ts'
import { webhookHandlers } from './company/webhooks.ts'
import { registerLive } from './live/live.ts'
import { incidentHandlers } from './operator/incidents.ts'
import { operatorHandlers } from './operator/operator.ts'
import { operatorPageHandlers } from './operator/operator-pages.ts'
import { operatorPeopleHandlers } from './operator/operator-people.ts'
import { supportHandlers } from './operator/support.ts'
import { accessRequestHandlers } from './organization/access-requests.ts'
import { attributionHandlers } from './organization/attribution.ts'
import { disclosedRecordHandlers } from './organization/disclosed-records.ts'
import { disclosureHandlers } from './organization/disclosures.ts'
import { organizationHandlers } from './organization/organization.ts'
import { patientDisclosureHandlers } from './organization/patient-disclosures.ts'
import { readerHandlers } from './organization/readers.ts'
import { removalHandlers } from './organization/removals.ts'
import { sealedDisclosureHandlers } from './organization/sealed-disclosures.ts'
import { vendorHandlers } from './organization/vendors.ts'
import { type Doer, requireReason } from './shared/audit.ts'
import type { Call, PortalContext, PortalHandler, PortalHandlers } from './shared/context.ts'
import { requireCsrfToken, requireOwnOrigin } from './shared/csrf.ts'
import { historyHandlers } from './shared/history.ts'
import { memberHandlers } from './shared/members.ts'
import { type Membership, requireMembership, tenantOf } from './shared/membership.ts'
import { noticeHandlers } from './shared/notices.ts'
import { readQuery } from './shared/query.ts'
import { identityProviderHandlers } from './sign-in/identity-provider.ts'
import { invitationHandlers } from './sign-in/invitation.ts'
import { passwordCheckHandlers } from './sign-in/password-check.ts'
import { registerAuth, requireFullSignIn, webHeaders } from './sign-in/sign-in-routes.ts'
import { signInRuleHandlers } from './sign-in/sign-in-rule.ts'
import { signUpHandlers } from './sign-in/sign-up.ts'

// A handler for each route: one that is missing does not compile.
const handlers: PortalHandlers = {
  ...accountHandlers,
  ...signUpHandlers,
  ...passwordCheckHandlers,
  ...referenceTokenHandlers,
  ...invitationHandlers,
  ...historyHandlers,
  ...companyHandlers,
  ...usageHandlers,
  ...sandboxRequestHandlers,
  ...sandboxHandlers,
  ...webhookHandlers,
  ...companyProfileHandlers,
  ...memberHandlers,
  ...noticeHandlers,
  ...memberSessionHandlers,
  ...signInRuleHandlers,
  ...identityProviderHandlers,
  ...operatorHandlers,
  ...operatorPageHandlers,
  ...operatorPeopleHandlers,
  ...supportHandlers,
  ...incidentHandlers,
  ...organizationHandlers,
  ...removalHandlers,
  ...readerHandlers,
  ...vendorHandlers,
  ...accessRequestHandlers,
  ...disclosureHandlers,
  ...disclosedRecordHandlers,
  ...patientDisclosureHandlers,
  ...sealedDisclosureHandlers,
  ...attributionHandlers,
}

/**
 * HTTP under /portal/api: what the portal's pages speak, from the contract's table. Each request is checked in this order: 403 a page that is
 * not ours, 401 no session, 403 the CSRF token, 404 a tenant that the person does not belong to, 403 the second factor where one is
 * required, 403 the role, 409 an act of a company that is not active, 403 a sign-in that is not fresh, 422 parameters and body.
 */
export function registerPortalApi(app: FastifyInstance, context: PortalContext): void {
  app.addHook('onRequest', async (request) => {
    if (request.method !== 'GET') requireOwnOrigin(context.publicUrl, request)
  })
  registerAuth(app, context)
  registerLive(app, context)
  for (const name of Object.keys(handlers) as PortalRouteName[]) registerRoute(app, context, name)
}

/** In bytes, where 64 KiB are not enough: a text of many pages in any script, an image, and lists of all locations of a practice. */
const largeBodies: Partial<Record<PortalRouteName, number>> = {
  publishAgreement: 640 * 1024,
  setCompanyLogo: 128 * 1024,
  changeVendorAccess: 1024 * 1024,
  grantVendorRequest: 128 * 1024,
}

type Passed = { person: Person | null; member: Membership | null }

function registerRoute(app: FastifyInstance, context: PortalContext, name: PortalRouteName): void {
  const route = portalRoutes[name]
  const passed = new WeakMap<FastifyRequest, Passed>()
  app.route({
    method: route.method,
    url: route.path,
    bodyLimit: largeBodies[name] ?? 64 * 1024,
    // Before the body is read: who may not do it has nothing to send.
    onRequest: async (request, reply) => {
      passed.set(request, await passGates(context, name, request, reply))
    },
    handler: async (request, reply) => {
      const gates = passed.get(request)
      if (!gates) throw new Error('a portal route without its gates')
      const call = {
        ...gates,
        params: request.params as Record<string, string>,
        query: readQuery('query' in route ? route.query : [], rawQuery(request)),
        body: readBody(name, request),
        ip: request.clientIp,
        requestId: request.id,
        request,
        reply,
      }
      if (gates.person && gates.member && isAct(name)) requireReason(call as Doer)
      // The table says which gates a route has, and they gave the call its person, member and body.
      const handler = handlers[name] as PortalHandler<PortalRouteName>
      return await handler(context, call as Call<PortalRouteName>)
    },
  })
}

async function passGates(
  context: PortalContext,
  name: PortalRouteName,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Passed> {
  const { action, method } = portalRoutes[name]
  if (action === 'anyone') return { person: null, member: null }
  const { person, cookies } = await authenticatePerson(context.auth, webHeaders(request), context.now())
  if (!person) throw new Problem('sign_in_required')
  for (const cookie of cookies) reply.header('set-cookie', cookie)
  if (method !== 'GET') requireCsrfToken(context.secretKey, person, request)
  if (action === 'signed_in') {
    if (name !== 'getSession') requireFullSignIn(person)
    return { person, member: null }
  }
  const params = request.params as Record<string, string>
  const wanted = { action, isAct: isAct(name), params }
  const member = await requireMembership(context.pool, person, wanted, context.now())
  // A page that refreshes itself is no use of it.
  if (request.headers['x-background'] !== 'true') {
    await noteSessionUse(context.pool, person.sessionId, tenantOf(member))
  }
  return { person, member }
}

/** Whether the route does something for a tenant. That a notice was read is no act. */
function isAct(name: PortalRouteName): boolean {
  const { method, action } = portalRoutes[name]
  return method !== 'GET' && action !== 'notice.read'
}

function readBody(name: PortalRouteName, request: FastifyRequest): unknown {
  const schemas: Partial<Record<PortalRouteName, TSchema>> = portalBodies
  const schema = schemas[name]
  return schema === undefined ? undefined : readJson(schema, request.body)
}
