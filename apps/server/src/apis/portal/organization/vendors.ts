import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { AccessChanged, GrantEntry, Rename, VendorEntry, VendorPage } from '@bridgework/contract/portal'
import { recordAudit } from '../../../modules/audit/store.ts'
import { type Access, atEachLocation, datasetsEverywhere, versionOf } from '../../../modules/consent/access.ts'
import { recordAccessChange } from '../../../modules/consent/access-act.ts'
import { summarizeAccess } from '../../../modules/consent/dataset-grant.ts'
import {
  type AccessChange,
  changeAccess,
  findTerms,
  type GrantTerms,
  listAccess,
} from '../../../modules/consent/grant.ts'
import { listDatasetStates } from '../../../modules/datasets/dataset-state.ts'
import { type FormerName, listRenames } from '../../../modules/directory/company.ts'
import { listLocations } from '../../../modules/directory/location.ts'
import { endOfDay, lastDayOf, requireOrganization } from '../../../modules/directory/organization.ts'
import { logosOf } from '../../../modules/directory/profile.ts'
import { lastReadsOf } from '../../../modules/disclosure/history.ts'
import { type GrantEntry as ListedGrant, pageOfGrants } from '../../../modules/overview/grant.ts'
import { findVendor, listVendors, type Vendor } from '../../../modules/overview/vendor.ts'
import { isFresh } from '../../../modules/sign-in/person.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { requireText } from '../../../platform/errors/field.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { type CompanyId, type LocationId, type OrganizationId, parseUuid } from '../../../platform/identity/identity.ts'
import { toLogoUrl, toVendorProfile } from '../company/company-profile.ts'
import { actorOf, entryOf } from '../shared/audit.ts'
import type { Call, PortalContext, PortalHandlers } from '../shared/context.ts'
import { readListPage, toListed } from '../shared/list.ts'
import { requireDataset } from '../shared/own-location.ts'
import { readChoice, readCompanyId } from '../shared/query.ts'
import { previewOf } from './dataset-preview.ts'

const historyMax = 200

/** Which vendors a practice grants access, to what, and every grant that it ever made. */
export const vendorHandlers: PortalHandlers<
  | 'listVendors'
  | 'getVendor'
  | 'changeVendorAccess'
  | 'setVendorTerms'
  | 'revokeVendorAccess'
  | 'previewDataset'
  | 'listGrants'
> = {
  listVendors: async ({ pool, environment }, { member: { organizationId }, query }) => {
    const page = readListPage(query)
    const { total, vendors } = await listVendors(pool, organizationId, {
      ...page,
      shown: readChoice(query, 'show', ['verified']) ?? 'known',
      onlyVerified: environment === 'production',
    })
    const companyIds = vendors.map(({ companyId }) => companyId)
    const locationIds = (await listLocations(pool, organizationId)).map(({ id }) => id)
    const [access, lastReads, logos] = await Promise.all([
      summarizeAccess(pool, locationIds, companyIds),
      lastReadsOf(pool, locationIds, companyIds),
      logosOf(pool, companyIds),
    ])
    const data = vendors.map((vendor): VendorEntry => {
      const own = access.get(vendor.companyId)
      return {
        company_id: vendor.companyId,
        name: vendor.name,
        is_verified: vendor.verifiedAt !== null,
        verified_domain: vendor.verifiedDomain,
        logo: toLogoUrl(logos.get(vendor.companyId) ?? null),
        has_access: own !== undefined && vendor.state === 'active' && vendor.isAgreementInForce,
        locations: own?.locations ?? 0,
        datasets: datasetNames.filter((name) => own?.datasets.includes(name)),
        last_read_at: lastReads.get(vendor.companyId)?.toISOString() ?? null,
        granted_at: own?.grantedAt.toISOString() ?? null,
      }
    })
    return toListed(page, total, data)
  },

  getVendor: async (context, { member: { organizationId }, params }) => {
    const { pool } = context
    const vendor = await requireVendor(context, organizationId, params.company_id)
    const { companyId } = vendor
    const locations = await listLocations(pool, organizationId)
    const locationIds = locations.map(({ id }) => id)
    const [organization, profile, renames, terms, access, lastReads, history] = await Promise.all([
      requireOrganization(pool, organizationId),
      toVendorProfile(pool, companyId),
      listRenames(pool, [companyId]),
      findTerms(pool, { companyId, organizationId }),
      listAccess(pool, { companyId, organizationId }),
      lastReadsOf(pool, locationIds, [companyId]),
      pageOfGrants(pool, { organizationId, companyId }, { search: '', limit: historyMax, offset: 0 }),
    ])
    const readable = Map.groupBy(atEachLocation(access, locationIds), ({ locationId }) => locationId)
    return {
      company_id: companyId,
      name: vendor.name,
      profile,
      former_names: renames.map(toFormerName),
      state: vendor.state,
      agreement_in_force: vendor.isAgreementInForce,
      last_read_at: lastReads.get(companyId)?.toISOString() ?? null,
      purpose: terms.purpose,
      ends_at: terms.endsAt?.toISOString() ?? null,
      ends_on: terms.endsAt && lastDayOf(organization, terms.endsAt),
      access_version: versionOf(access, locationIds),
      all_locations: datasetsEverywhere(access),
      all_locations_notes: namesOf(access.filter(({ locationId, notes }) => locationId === null && notes)),
      locations: locations.map(({ id, name }) => {
        const own = readable.get(id) ?? []
        return { id, name, datasets: namesOf(own), notes: namesOf(own.filter(({ notes }) => notes)) }
      }),
      history: history.grants.map(toGrantEntry),
    } satisfies VendorPage
  },

  changeVendorAccess: async (context, call) => {
    const { pool, now } = context
    const vendor = await requireVendor(context, call.member.organizationId, call.params.company_id)
    const wanted = accessOf(call.body)
    const requireSame = (current: Access, locationIds: readonly LocationId[]) => {
      if (versionOf(current, locationIds) === call.body.access_version) return wanted
      throw new Problem('access_changed')
    }
    const parties = { ...partiesOf(call, vendor), termsOf: await newTerms(pool, call.member.organizationId, call.body) }
    const change = await changeAccess(pool, parties, requireSame, async (client, change) => {
      if (change.isWider && vendor.state === 'closed')
        throw new Problem('company_closed', { errors: `The company ${vendor.name} is closed.` })
      // A vendor with access keeps working, also when its verification ended, as by another name.
      const isNew = change.isWider && change.before.length === 0
      if (isNew && context.environment === 'production' && vendor.verifiedAt === null)
        throw new Problem('company_not_verified')
      if (change.isWider && !isFresh(call.person, now())) throw new Problem('fresh_sign_in_required')
      await recordChange(client, call, 'grant.change', vendor, change)
    })
    return toAccessChanged(change)
  },

  setVendorTerms: async (context, call) => {
    const { pool, now } = context
    const vendor = await requireVendor(context, call.member.organizationId, call.params.company_id)
    const parties = { ...partiesOf(call, vendor), termsOf: await newTerms(pool, call.member.organizationId, call.body) }
    const keep = (current: Access) => {
      if (current.length === 0)
        throw new Problem('access_changed', { errors: 'The vendor has no access. Grant it access first.' })
      return current
    }
    await changeAccess(pool, parties, keep, async (client, change) => {
      if (change.isWider && !isFresh(call.person, now())) throw new Problem('fresh_sign_in_required')
      await recordChange(client, call, 'grant.change', vendor, change)
    })
    return { done: true }
  },

  revokeVendorAccess: async (context, call) => {
    const { pool } = context
    const vendor = await requireVendor(context, call.member.organizationId, call.params.company_id)
    const change = await changeAccess(
      pool,
      partiesOf(call, vendor),
      () => [],
      (client, change) => recordChange(client, call, 'grant.revoke', vendor, change),
    )
    return toAccessChanged(change)
  },

  previewDataset: async ({ pool }, { member, params }) => {
    const dataset = requireDataset(params.dataset)
    const locations = await listLocations(pool, member.organizationId)
    const states = await listDatasetStates(
      pool,
      locations.map(({ id }) => id),
    )
    const records = [...states.values()].reduce((sum, own) => sum + (own.get(dataset)?.visible ?? 0), 0)
    return previewOf(dataset, records)
  },

  listGrants: async ({ pool }, { member: { organizationId }, query }) => {
    const page = readListPage(query)
    const companyId = readCompanyId(query) ?? undefined
    const { total, grants } = await pageOfGrants(pool, { organizationId, companyId }, page)
    return toListed(page, total, grants.map(toGrantEntry))
  },
}

async function requireVendor(
  { pool, environment }: PortalContext,
  organizationId: OrganizationId,
  text: string | undefined,
): Promise<Vendor> {
  const companyId = parseUuid<CompanyId>(text ?? '')
  const options = { onlyVerified: environment === 'production' }
  const vendor = companyId && (await findVendor(pool, organizationId, companyId, options))
  if (!vendor) throw new Problem('company_unknown')
  return vendor
}

/** The terms that a person set: what they left out stays. Throws Problem field_invalid. */
export async function newTerms(
  db: Queryable,
  organizationId: OrganizationId,
  given: { purpose?: string | undefined; ends_on?: string | null | undefined },
): Promise<(now: GrantTerms) => GrantTerms> {
  const text = given.purpose?.replace(/\s+/g, ' ').trim()
  const purpose = text ? requireText(text, 'the purpose', 500) : null
  const endsAt = given.ends_on ? await endOfDay(db, organizationId, given.ends_on) : null
  return (now) => ({
    purpose: given.purpose === undefined ? now.purpose : purpose,
    endsAt: given.ends_on === undefined ? now.endsAt : endsAt,
  })
}

/** Which of the locations are the organization's own is looked at under its lock; a text that is no id is none of them. */
function accessOf(body: Call<'changeVendorAccess'>['body']): Access {
  const grants = (locationId: LocationId | null, datasets: readonly string[], notes: readonly string[] = []) => {
    const other = notes.find((dataset) => !datasets.includes(dataset))
    if (other !== undefined) {
      throw new Problem('field_invalid', { errors: `Notes of ${other} need a grant of ${other} at the same place.` })
    }
    // The body's schema takes names of datasets alone.
    return datasets.map((dataset) => ({ locationId, dataset: dataset as DatasetName, notes: notes.includes(dataset) }))
  }
  return [
    ...grants(null, body.all_locations, body.all_locations_notes),
    ...body.locations.flatMap(({ id, datasets, notes }) => grants(id as LocationId, datasets, notes)),
  ]
}

function namesOf(access: Access): DatasetName[] {
  return access.map(({ dataset }) => dataset)
}

function partiesOf(call: Call<'changeVendorAccess' | 'setVendorTerms' | 'revokeVendorAccess'>, { companyId }: Vendor) {
  return { companyId, organizationId: call.member.organizationId, by: actorOf(call) }
}

async function recordChange(
  client: Queryable,
  call: Call<'changeVendorAccess' | 'setVendorTerms' | 'revokeVendorAccess'>,
  action: 'grant.change' | 'grant.revoke',
  vendor: Vendor,
  change: AccessChange,
): Promise<void> {
  const parties = { companyId: vendor.companyId, organizationId: call.member.organizationId }
  await recordAccessChange(client, parties, change, (facts) => recordAudit(client, entryOf(call, action, facts)))
}

/** A rename as pages show it. */
export function toFormerName({ companyId, name, formerName, usedUntil }: FormerName): Rename {
  return { company_id: companyId, name, former_name: formerName, used_until: usedUntil.toISOString() }
}

function toAccessChanged({ opened, closed }: AccessChange): AccessChanged {
  return { opened: opened.length, closed: closed.length }
}

function toGrantEntry(grant: ListedGrant): GrantEntry {
  return {
    company_id: grant.companyId,
    company_name: grant.companyName,
    location_id: grant.locationId,
    location_name: grant.locationName,
    dataset: grant.dataset,
    notes: grant.notes,
    granted_at: grant.grantedAt.toISOString(),
    granted_by: grant.grantedBy,
    revoked_at: grant.revokedAt?.toISOString() ?? null,
    revoked_by: grant.revokedBy,
    purpose: grant.purpose,
    ends_at: grant.endsAt?.toISOString() ?? null,
  }
}
