import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Consent, VendorEntry, VendorPage } from '@bridgework/contract/portal'
import { recordAudit } from '../../modules/audit/store.ts'
import { type Grant, type GrantScope, grantAccess, listGrants, revokeAccess } from '../../modules/consent/grant.ts'
import { listDatasetStates } from '../../modules/datasets/dataset-state.ts'
import { listLocations } from '../../modules/directory/location.ts'
import { lastReadsOf } from '../../modules/disclosure/history.ts'
import { findVendor, listVendors, type Vendor } from '../../modules/overview/vendor.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type CompanyId, type LocationId, type OrganizationId, parseUuid } from '../../platform/identity/identity.ts'
import { actorOf, entryOf } from './audit.ts'
import type { Call, PortalHandlers } from './context.ts'
import { previewOf } from './dataset-preview.ts'
import { readListPage, toListed } from './list.ts'
import { requireDataset } from './own-location.ts'

const historyMax = 200
/** Locations that the record of an act names one by one; the consents themselves have them all. */
const namedMax = 10

/** Which companies a practice lets in, to what, and every consent that it ever gave. */
export const vendorHandlers: PortalHandlers<
  'listVendors' | 'getVendor' | 'grantVendor' | 'revokeVendor' | 'previewDataset' | 'listConsents'
> = {
  listVendors: async ({ pool }, { member: { organizationId }, query }) => {
    const page = readListPage(query)
    const { total, vendors } = await listVendors(pool, organizationId, page)
    const { locations, grants, lastReads } = await accessOf(
      pool,
      organizationId,
      vendors.map((vendor) => vendor.companyId),
    )
    const data = vendors.map((vendor): VendorEntry => {
      const own = grants.filter((grant) => grant.companyId === vendor.companyId)
      const open = locations.filter((location) => openDatasets(own, location.id).length > 0)
      return {
        company_id: vendor.companyId,
        name: vendor.name,
        has_access: mayRead(vendor) && open.length > 0,
        locations: open.length,
        datasets: datasetNames.filter((name) => own.some((grant) => grant.dataset === name)),
        last_read_at: lastReads.get(vendor.companyId)?.toISOString() ?? null,
        granted_at: own.at(-1)?.grantedAt.toISOString() ?? null,
      }
    })
    return toListed(page, total, data)
  },

  getVendor: async ({ pool }, { member: { organizationId }, params }) => {
    const vendor = await requireVendor(pool, organizationId, params.company_id)
    const { companyId } = vendor
    const [{ locations, grants, lastReads }, history] = await Promise.all([
      accessOf(pool, organizationId, [companyId]),
      listGrants(pool, { organizationId, companyId, withEnded: true }),
    ])
    return {
      company_id: companyId,
      name: vendor.name,
      state: vendor.state,
      agreement_in_force: vendor.isAgreementInForce,
      last_read_at: lastReads.get(companyId)?.toISOString() ?? null,
      all_locations: openDatasets(grants, null),
      locations: locations.map(({ id, name }) => ({ id, name, datasets: openDatasets(grants, id) })),
      history: history.slice(0, historyMax).map(toConsent),
    } satisfies VendorPage
  },

  grantVendor: async ({ pool }, call) => {
    const vendor = await requireVendor(pool, call.member.organizationId, call.params.company_id)
    if (vendor.state === 'closed')
      throw new Problem('company_closed', { errors: `The company ${vendor.name} is closed.` })
    const scope = scopeOf(call, vendor)
    return await grantAccess(pool, scope, (client) =>
      recordAudit(client, entryOf(call, 'grant.give', subjectOf(vendor, scope))),
    )
  },

  revokeVendor: async ({ pool }, call) => {
    const vendor = await requireVendor(pool, call.member.organizationId, call.params.company_id)
    const scope = scopeOf(call, vendor)
    return await revokeAccess(pool, scope, (client) =>
      recordAudit(client, entryOf(call, 'grant.revoke', subjectOf(vendor, scope))),
    )
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

  listConsents: async ({ pool }, { member: { organizationId }, query }) => {
    const page = readListPage(query)
    const companyId = query.company_id ? parseUuid<CompanyId>(query.company_id) : undefined
    if (companyId === null)
      throw new Problem('parameter_invalid', { errors: 'company_id must be the id of a company.' })
    const all = await listGrants(pool, { organizationId, ...(companyId && { companyId }), withEnded: true })
    const wanted = page.search.toLowerCase()
    const found = all.filter((grant) =>
      [grant.companyName, grant.locationName, grant.dataset, grant.grantedBy, grant.revokedBy]
        .join('\n')
        .toLowerCase()
        .includes(wanted),
    )
    return toListed(page, found.length, found.slice(page.offset, page.offset + page.limit).map(toConsent))
  },
}

async function requireVendor(db: Queryable, organizationId: OrganizationId, text: string | undefined): Promise<Vendor> {
  const companyId = parseUuid<CompanyId>(text ?? '')
  const vendor = companyId && (await findVendor(db, organizationId, companyId))
  if (!vendor) throw new Problem('company_unknown')
  return vendor
}

/** The organization's locations, its consents in force, and when each of these companies last read something of it. */
async function accessOf(db: Queryable, organizationId: OrganizationId, companyIds: readonly CompanyId[]) {
  const [locations, grants] = await Promise.all([listLocations(db, organizationId), listGrants(db, { organizationId })])
  const lastReads = await lastReadsOf(
    db,
    locations.map(({ id }) => id),
    companyIds,
  )
  return { locations, grants: grants.filter((grant) => companyIds.includes(grant.companyId)), lastReads }
}

/** What one company's consents open of a location, in the contract's order; `locationId` null: of every one, those of the future included. */
function openDatasets(grants: readonly Grant[], locationId: LocationId | null): DatasetName[] {
  return datasetNames.filter((name) =>
    grants.some((grant) => grant.dataset === name && (grant.locationId === null || grant.locationId === locationId)),
  )
}

function mayRead(vendor: Vendor): boolean {
  return vendor.state === 'active' && vendor.isAgreementInForce
}

function scopeOf(call: Call<'grantVendor' | 'revokeVendor'>, vendor: Vendor): GrantScope {
  const { location_ids: locationIds, datasets } = call.body
  return {
    companyId: vendor.companyId,
    organizationId: call.member.organizationId,
    // Which of them are the organization's own, the grant itself looks at under its lock; a text that is no id is none of them.
    locationIds: locationIds === 'all' ? 'all' : (locationIds as LocationId[]),
    // The body's schema takes names of datasets alone.
    datasets: datasets as DatasetName[] | 'all',
    by: actorOf(call),
  }
}

function subjectOf(vendor: Vendor, { locationIds, datasets }: GrantScope): string {
  const where =
    locationIds === 'all'
      ? 'all locations'
      : locationIds.length > namedMax
        ? `${locationIds.length} locations`
        : `locations ${locationIds.join(', ')}`
  return `${vendor.name}: ${datasets === 'all' ? 'all datasets' : datasets.join(', ')} of ${where}`
}

function toConsent(grant: Grant): Consent {
  return {
    company_id: grant.companyId,
    company_name: grant.companyName,
    location_id: grant.locationId,
    location_name: grant.locationName,
    dataset: grant.dataset,
    granted_at: grant.grantedAt.toISOString(),
    granted_by: grant.grantedBy,
    revoked_at: grant.revokedAt?.toISOString() ?? null,
    revoked_by: grant.revokedBy,
  }
}
