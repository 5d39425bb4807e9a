import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { AccessRequest as RequestEntry } from '@bridgework/contract/portal'
import type { AuditAction, FactsOf } from '../../../modules/audit/in-words.ts'
import { type AuditEntry, recordAudit } from '../../../modules/audit/store.ts'
import { recordAccessChange } from '../../../modules/consent/access-act.ts'
import {
  type AccessRequest,
  endAccessRequest,
  inviteAgain,
  listAccessRequests,
  lockAccessRequest,
  requestAccess,
} from '../../../modules/consent/access-request.ts'
import { type AccessChange, changeAccess, type GrantTerms } from '../../../modules/consent/grant.ts'
import { agreementInForce } from '../../../modules/credentials/agreement.ts'
import { companyNames, requireCompany } from '../../../modules/directory/company.ts'
import { lockOrganization, organizationNames, requireOrganization } from '../../../modules/directory/organization.ts'
import { findVendor } from '../../../modules/overview/vendor.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { type LocationId, type OrganizationId, parseNumericId } from '../../../platform/identity/identity.ts'
import { actorOf, entryOf } from '../shared/audit.ts'
import type { PortalContext, PortalHandlers } from '../shared/context.ts'
import { newTerms } from './vendors.ts'

/** How a vendor asks a practice for access, and how the practice answers. */
export const accessRequestHandlers: PortalHandlers<
  | 'listAccessRequests'
  | 'requestAccess'
  | 'withdrawAccessRequest'
  | 'listVendorRequests'
  | 'grantVendorRequest'
  | 'declineVendorRequest'
  | 'inviteVendorRequest'
> = {
  listAccessRequests: async ({ pool }, { member: { companyId } }) => ({
    data: await entriesOf(pool, await listAccessRequests(pool, { companyId })),
    datasets: [...datasetNames],
  }),

  requestAccess: async (context, call) => {
    const { pool, now } = context
    const { companyId } = call.member
    const { organization_id: given, datasets, locations, purpose } = call.body
    const company = await requireCompany(pool, companyId)
    if (company.state !== 'active') throw new Problem('company_closed')
    if (!(await agreementInForce(pool, companyId)).isInForce) throw new Problem('agreement_not_accepted')
    if (context.environment === 'production' && company.verifiedAt === null) throw new Problem('company_not_verified')
    const organizationId = parseNumericId<OrganizationId>(given.trim())
    await withTransaction(pool, async (client) => {
      const name = await practiceName(client, organizationId)
      if (organizationId === null || name === null)
        throw new Problem('organization_unknown', {
          errors: 'No practice has this id. Ask the practice for its id: it is on its page “Vendor access”.',
        })
      const asked = { companyId, organizationId, datasets: datasets as DatasetName[], locations, purpose }
      const facts = await requestAccess(client, { ...asked, askedBy: actorOf(call) }, now())
      const practice = { id: organizationId, name }
      await recordAudit(client, entryOf(call, 'access_request.make', { ...facts, practice }))
      await recordForOther(client, 'organization', organizationId, company.name, 'access_request.make', facts)
    })
    return { done: true }
  },

  withdrawAccessRequest: async ({ pool, now }, call) => {
    const { companyId } = call.member
    await withTransaction(pool, async (client) => {
      const request = await lockAccessRequest(client, { companyId }, call.params.request_id ?? '')
      await endAccessRequest(client, request, { state: 'withdrawn', by: actorOf(call), now: now() })
      const practice = await requireOrganization(client, request.organizationId)
      const company = await requireCompany(client, companyId)
      await recordAudit(client, entryOf(call, 'access_request.withdraw', { practice }))
      await recordForOther(client, 'organization', practice.id, company.name, 'access_request.withdraw', {})
    })
    return { done: true }
  },

  listVendorRequests: async ({ pool }, { member: { organizationId } }) => ({
    data: await entriesOf(pool, await listAccessRequests(pool, { organizationId })),
  }),

  grantVendorRequest: async (context, call) => {
    const { pool, now } = context
    const { organizationId } = call.member
    const { datasets, location_ids: locationIds, message } = call.body
    if (datasets.length === 0) throw new Problem('field_invalid', { errors: 'Choose a dataset at least, or decline.' })
    if (locationIds?.length === 0)
      throw new Problem('field_invalid', { errors: 'Choose a location at least, or decline.' })
    const { companyId, purpose } = await withTransaction(pool, (client) =>
      lockAccessRequest(client, { organizationId }, call.params.request_id ?? ''),
    )
    const vendor = await findVendor(pool, organizationId, companyId, {
      onlyVerified: context.environment === 'production',
    })
    if (!vendor) throw new Problem('company_not_verified')
    if (vendor.state !== 'active') throw new Problem('company_closed')
    const granted = (locationIds ?? [null]).flatMap((locationId) =>
      datasets.map((dataset) => ({
        locationId: locationId as LocationId | null,
        dataset: dataset as DatasetName,
        notes: false,
      })),
    )
    const answer = async (client: Queryable, change: AccessChange) => {
      const request = await lockAccessRequest(client, { organizationId }, call.params.request_id ?? '')
      await endAccessRequest(client, request, { state: 'granted', by: actorOf(call), message, now: now() })
      const record = (facts: FactsOf<'grant.change'>) => recordAudit(client, entryOf(call, 'grant.change', facts))
      await recordAccessChange(client, { companyId, organizationId }, change, record, { isRequested: true })
    }
    let isAnswered = false
    const setEnd = await newTerms(pool, organizationId, call.body)
    // What it was granted before keeps its purpose.
    const termsOf = (current: GrantTerms) => ({ ...setEnd(current), purpose: current.purpose ?? purpose })
    const parties = { companyId, organizationId, by: actorOf(call), termsOf }
    const change = await changeAccess(
      pool,
      parties,
      (current) => [...current, ...granted],
      async (client, change) => {
        await answer(client, change)
        isAnswered = true
      },
    )
    // The vendor may read all of it already.
    if (!isAnswered) await withTransaction(pool, (client) => answer(client, change))
    return { opened: change.opened.length, closed: change.closed.length }
  },

  declineVendorRequest: async ({ pool, now }, call) => {
    const { organizationId } = call.member
    await withTransaction(pool, async (client) => {
      const request = await lockAccessRequest(client, { organizationId }, call.params.request_id ?? '')
      const end = { state: 'declined', by: actorOf(call), message: call.body.message, now: now() } as const
      const message = await endAccessRequest(client, request, end)
      const [vendor, { name }] = [
        await requireCompany(client, request.companyId),
        await requireOrganization(client, organizationId),
      ]
      await recordAudit(client, entryOf(call, 'access_request.decline', { vendor, message }))
      await recordForOther(client, 'company', vendor.id, name, 'access_request.decline', { message })
    })
    return { done: true }
  },

  inviteVendorRequest: async ({ pool, now }, call) => {
    const { organizationId } = call.member
    await withTransaction(pool, async (client) => {
      const request = await lockAccessRequest(client, { organizationId }, call.params.request_id ?? '')
      await inviteAgain(client, request, now())
      const vendor = await requireCompany(client, request.companyId)
      const { name } = await requireOrganization(client, organizationId)
      await recordAudit(client, entryOf(call, 'access_request.invite', { vendor }))
      await recordForOther(client, 'company', vendor.id, name, 'access_request.invite', {})
    })
    return { done: true }
  },
}

/** The name of a practice that can be asked; null for an id of none, and of one that was erased. */
async function practiceName(client: Queryable, id: OrganizationId | null): Promise<string | null> {
  if (id === null) return null
  try {
    await lockOrganization(client, id)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
  return (await requireOrganization(client, id)).name
}

/** Puts an act into the history of the other side too. It names the company or the practice that acted, not the person. */
async function recordForOther<Action extends AuditAction>(
  client: Queryable,
  side: AuditEntry['side'],
  tenantId: string,
  actor: string,
  action: Action,
  facts: FactsOf<Action>,
): Promise<void> {
  await recordAudit(client, { side, tenantId, userId: null, actor, action, facts, ip: null, requestId: null })
}

async function entriesOf(pool: PortalContext['pool'], requests: readonly AccessRequest[]): Promise<RequestEntry[]> {
  const [companies, organizations] = await Promise.all([
    companyNames(
      pool,
      requests.map(({ companyId }) => companyId),
    ),
    organizationNames(
      pool,
      requests.map(({ organizationId }) => organizationId),
    ),
  ])
  return requests.map((request) => ({
    id: request.id,
    organization_id: request.organizationId,
    organization_name: organizations.get(request.organizationId) ?? '',
    company_id: request.companyId,
    company_name: companies.get(request.companyId) ?? '',
    datasets: request.datasets,
    locations: request.locations,
    purpose: request.purpose,
    asked_at: request.askedAt.toISOString(),
    asked_by: request.askedBy,
    state: request.state,
    ended_at: request.endedAt?.toISOString() ?? null,
    message: request.message,
    invited_at: request.invitedAt?.toISOString() ?? null,
  }))
}
