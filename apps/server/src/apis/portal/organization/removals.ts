import { type DatasetName, getDataset } from '@bridgework/contract'
import type { RemovalEntry } from '@bridgework/contract/portal'
import { recordAudit } from '../../../modules/audit/store.ts'
import type { Location } from '../../../modules/directory/location.ts'
import { listLocations } from '../../../modules/directory/location.ts'
import {
  confirmRemoval,
  type HeldRecord,
  listHeldRecords,
  rejectRemoval,
  reviewKept,
} from '../../../modules/records/removals/removal-decision.ts'
import {
  type CurrentRemoval,
  findCurrentRemoval,
  listKept,
  listRemovals,
} from '../../../modules/records/removals/removal-store.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { entryOf } from '../shared/audit.ts'
import type { PortalHandlers } from '../shared/context.ts'
import { requireDataset, requireOwnLocation } from '../shared/own-location.ts'

const previewMax = 100

/** The attribute that names a record, of those datasets whose names are not a patient's. */
const nameAttributes: Record<string, string> = { fee_schedules: 'name', insurance_plans: 'plan_name' }

/** Removals that were so large that a person of the practice must decide, and those that are carried out. */
export const removalHandlers: PortalHandlers<
  'listRemovals' | 'previewRemoval' | 'confirmRemoval' | 'rejectRemoval' | 'reviewRejection'
> = {
  listRemovals: async ({ pool }, { member }) => {
    const locations = new Map((await listLocations(pool, member.organizationId)).map((each) => [each.id, each]))
    const ids = [...locations.keys()]
    const [removals, kept] = await Promise.all([listRemovals(pool, ids), listKept(pool, ids)])
    return {
      data: removals.flatMap((removal) => {
        const location = locations.get(removal.locationId)
        return location ? [toEntry(removal, location)] : []
      }),
      kept: kept.map(({ locationId, dataset, remaining, decidedAt }) => ({
        location_id: locationId,
        location_name: locations.get(locationId)?.name ?? '',
        dataset,
        title: getDataset(dataset).title,
        records: remaining,
        kept_at: decidedAt.toISOString(),
      })),
    }
  },

  previewRemoval: async ({ pool }, { member, params }) => {
    const location = await requireOwnLocation(pool, member.organizationId, params.location_id)
    const dataset = requireDataset(params.dataset)
    const removal = await findCurrentRemoval(pool, { locationId: location.id, dataset })
    if (!removal) throw new Problem('removal_unknown')
    const records = await listHeldRecords(pool, removal, previewMax)
    return {
      ...toEntry(removal, location),
      records: records.map((record) => ({
        source_id: record.sourceId,
        name: nameOf(dataset, record),
        updated_at: new Date(record.modifiedAtMs).toISOString(),
      })),
    }
  },

  confirmRemoval: async ({ pool }, call) => {
    const location = await requireOwnLocation(pool, call.member.organizationId, call.params.location_id)
    const dataset = requireDataset(call.params.dataset)
    return await confirmRemoval(pool, location.id, dataset, call.body.list_hash, (client, { hidden, remaining }) => {
      const facts = { decision: 'confirmed', dataset, location, records: hidden, remaining } as const
      return recordAudit(client, entryOf(call, 'removal.decide', facts))
    })
  },

  rejectRemoval: async ({ pool, now }, call) => {
    const location = await requireOwnLocation(pool, call.member.organizationId, call.params.location_id)
    const dataset = requireDataset(call.params.dataset)
    const rejected = { locationId: location.id, dataset, listHash: call.body.list_hash, now: now() }
    await rejectRemoval(pool, rejected, (client, { records }) =>
      recordAudit(client, entryOf(call, 'removal.decide', { decision: 'rejected', dataset, location, records })),
    )
    return { done: true }
  },

  reviewRejection: async ({ pool }, call) => {
    const location = await requireOwnLocation(pool, call.member.organizationId, call.params.location_id)
    const dataset = requireDataset(call.params.dataset)
    await reviewKept(pool, { locationId: location.id, dataset }, (client) =>
      recordAudit(client, entryOf(call, 'removal.decide', { decision: 'to be reviewed again', dataset, location })),
    )
    return { done: true }
  },
}

function toEntry(removal: CurrentRemoval, location: Location): RemovalEntry {
  return {
    location_id: location.id,
    location_name: location.name,
    dataset: removal.dataset,
    title: getDataset(removal.dataset).title,
    state: removal.state,
    list_hash: removal.listHash,
    remaining: removal.remaining,
    hidden: removal.hidden,
    visible: removal.visible,
    held_at: removal.heldAt.toISOString(),
    location_closed: location.closedAt !== null,
  }
}

function nameOf(dataset: DatasetName, record: HeldRecord): string | null {
  const attribute = nameAttributes[dataset]
  if (attribute === undefined) return null
  const name = record.source[attribute]
  return typeof name === 'string' ? name : null
}
