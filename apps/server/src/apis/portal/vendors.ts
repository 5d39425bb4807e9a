import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { AccessChanged, GrantEntry, VendorEntry, VendorPage } from '@bridgework/contract/portal'
import { recordAudit } from '../../modules/audit/store.ts'
import { type Access, atEachLocation, datasetsEverywhere, versionOf } from '../../modules/consent/access.ts'
import { describeAccess } from '../../modules/consent/access-text.ts'
import { summarizeAccess } from '../../modules/consent/dataset-grant.ts'
import { type AccessChange, changeAccess, listAccess } from '../../modules/consent/grant.ts'
import { recordForVendor } from '../../modules/consent/vendor-act.ts'
import { listDatasetStates } from '../../modules/datasets/dataset-state.ts'
import { listLocations } from '../../modules/directory/location.ts'
import { lastReadsOf } from '../../modules/disclosure/history.ts'
import { type GrantEntry as ListedGrant, pageOfGrants } from '../../modules/overview/grant.ts'
import { findVendor, listVendors, type Vendor } from '../../modules/overview/vendor.ts'
import { isFresh } from '../../modules/sign-in/person.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type CompanyId, type LocationId, type OrganizationId, parseUuid } from '../../platform/identity/identity.ts'
import { actorOf, entryOf } from './audit.ts'
import type { Call, PortalHandlers } from './context.ts'
import { previewOf } from './dataset-preview.ts'
import { readListPage, toListed } from './list.ts'
import { requireDataset } from './own-location.ts'
import { readCompanyId } from './query.ts'

const historyMax = 200

/** Which vendors a practice grants access, to what, and every grant that it ever made. */
export const vendorHandlers: PortalHandlers<
  'listVendors' | 'getVendor' | 'changeVendorAccess' | 'revokeVendorAccess' | 'previewDataset' | 'listGrants'
> = {
  listVendors: async ({ pool }, { member: { organizationId }, query }) => {
    const page = readListPage(query)
    const { total, vendors } = await listVendors(pool, organizationId, page)
    const companyIds = vendors.map(({ companyId }) => companyId)
    const locationIds = (await listLocations(pool, organizationId)).map(({ id }) => id)
    const [access, lastReads] = await Promise.all([
      summarizeAccess(pool, locationIds, companyIds),
      lastReadsOf(pool, locationIds, companyIds),
    ])
    const data = vendors.map((vendor): VendorEntry => {
      const own = access.get(vendor.companyId)
      return {
        company_id: vendor.companyId,
        name: vendor.name,
        has_access: own !== undefined && vendor.state === 'active' && vendor.isAgreementInForce,
        locations: own?.locations ?? 0,
        datasets: datasetNames.filter((name) => own?.datasets.includes(name)),
        last_read_at: lastReads.get(vendor.companyId)?.toISOString() ?? null,
        granted_at: own?.grantedAt.toISOString() ?? null,
      }
    })
    return toListed(page, total, data)
  },

  getVendor: async ({ pool }, { member: { organizationId }, params }) => {
    const vendor = await requireVendor(pool, organizationId, params.company_id)
    const { companyId } = vendor
    const locations = await listLocations(pool, organizationId)
    const locationIds = locations.map(({ id }) => id)
    const [access, lastReads, history] = await Promise.all([
      listAccess(pool, { companyId, organizationId }),
      lastReadsOf(pool, locationIds, [companyId]),
      pageOfGrants(pool, { organizationId, companyId }, { search: '', limit: historyMax, offset: 0 }),
    ])
    const readable = Map.groupBy(atEachLocation(access, locationIds), ({ locationId }) => locationId)
    return {
      company_id: companyId,
      name: vendor.name,
      state: vendor.state,
      agreement_in_force: vendor.isAgreementInForce,
      last_read_at: lastReads.get(companyId)?.toISOString() ?? null,
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

  changeVendorAccess: async ({ pool, now }, call) => {
    const vendor = await requireVendor(pool, call.member.organizationId, call.params.company_id)
    const wanted = accessOf(call.body)
    const requireSame = (current: Access, locationIds: readonly LocationId[]) => {
      if (versionOf(current, locationIds) === call.body.access_version) return wanted
      throw new Problem('access_changed')
    }
    const change = await changeAccess(pool, partiesOf(call, vendor), requireSame, async (client, change) => {
      if (change.isWider && vendor.state === 'closed')
        throw new Problem('company_closed', { errors: `The company ${vendor.name} is closed.` })
      if (change.isWider && !isFresh(call.person, now())) throw new Problem('fresh_sign_in_required')
      await recordChange(client, call, 'grant.change', vendor, change)
    })
    return toAccessChanged(change)
  },

  revokeVendorAccess: async ({ pool }, call) => {
    const vendor = await requireVendor(pool, call.member.organizationId, call.params.company_id)
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

async function requireVendor(db: Queryable, organizationId: OrganizationId, text: string | undefined): Promise<Vendor> {
  const companyId = parseUuid<CompanyId>(text ?? '')
  const vendor = companyId && (await findVendor(db, organizationId, companyId))
  if (!vendor) throw new Problem('company_unknown')
  return vendor
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

function partiesOf(call: Call<'changeVendorAccess' | 'revokeVendorAccess'>, { companyId }: Vendor) {
  return { companyId, organizationId: call.member.organizationId, by: actorOf(call) }
}

async function recordChange(
  client: Queryable,
  call: Call<'changeVendorAccess' | 'revokeVendorAccess'>,
  action: 'grant.change' | 'grant.revoke',
  vendor: Vendor,
  { before, after }: AccessChange,
): Promise<void> {
  const locations = await listLocations(client, call.member.organizationId)
  const [was, is] = [describeAccess(before, locations), describeAccess(after, locations)]
  await recordAudit(client, entryOf(call, action, `${vendor.name}. Before: ${was}. After: ${is}.`))
  const parties = { companyId: vendor.companyId, organizationId: call.member.organizationId }
  await recordForVendor(client, parties, { before: was, after: is })
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
  }
}
