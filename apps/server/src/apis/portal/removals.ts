import { type DatasetName, getDataset } from '@bridgework/contract'
import type { RemovalEntry } from '@bridgework/contract/portal'
import { recordAudit } from '../../modules/audit/store.ts'
import type { Location } from '../../modules/directory/location.ts'
import { listLocations } from '../../modules/directory/location.ts'
import {
  confirmRemoval,
  type HeldRecord,
  listHeldRecords,
  listRemovalHolds,
  type RemovalHold,
  rejectRemoval,
} from '../../modules/records/removal-hold.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { entryOf } from './audit.ts'
import type { PortalHandlers } from './context.ts'
import { requireDataset, requireOwnLocation } from './own-location.ts'

const previewMax = 100

/** The attribute that names a record, of those datasets whose names are not a patient's. */
const nameAttributes: Record<string, string> = { fee_schedules: 'name', insurance_plans: 'plan_name' }

/** Removals that were so large that a person of the practice must decide. */
export const removalHandlers: PortalHandlers<'listRemovals' | 'previewRemoval' | 'confirmRemoval' | 'rejectRemoval'> = {
  listRemovals: async ({ pool }, { member }) => {
    const locations = await listLocations(pool, member.organizationId)
    const holds = await listRemovalHolds(
      pool,
      locations.map(({ id }) => id),
    )
    return { data: holds.map(toEntry) }
  },

  previewRemoval: async ({ pool }, { member, params }) => {
    const location = await requireOwnLocation(pool, member.organizationId, params.location_id)
    const dataset = requireDataset(params.dataset)
    const hold = (await listRemovalHolds(pool, [location.id])).find((each) => each.dataset === dataset)
    if (!hold) throw new Problem('removal_unknown')
    const records = await listHeldRecords(pool, location.id, dataset, previewMax)
    return {
      ...toEntry(hold),
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
    return await confirmRemoval(pool, location.id, dataset, {
      missing: call.body.missing,
      alongside: (client, hidden) =>
        recordAudit(
          client,
          entryOf(call, 'removal.decide', `Confirmed: ${subjectOf(dataset, location)}, ${hidden} hidden`),
        ),
    })
  },

  rejectRemoval: async ({ pool }, call) => {
    const location = await requireOwnLocation(pool, call.member.organizationId, call.params.location_id)
    const dataset = requireDataset(call.params.dataset)
    await rejectRemoval(pool, location.id, dataset, (client) =>
      recordAudit(client, entryOf(call, 'removal.decide', `Rejected: ${subjectOf(dataset, location)}`)),
    )
    return { done: true }
  },
}

function toEntry(hold: RemovalHold): RemovalEntry {
  return {
    location_id: hold.locationId,
    location_name: hold.locationName,
    dataset: hold.dataset,
    title: getDataset(hold.dataset).title,
    missing: hold.missing,
    visible: hold.visible,
    held_at: hold.heldAt.toISOString(),
  }
}

function nameOf(dataset: DatasetName, record: HeldRecord): string | null {
  const attribute = nameAttributes[dataset]
  if (attribute === undefined) return null
  const name: unknown = JSON.parse(record.source)[attribute]
  return typeof name === 'string' ? name : null
}

function subjectOf(dataset: DatasetName, location: Location): string {
  return `removal of ${getDataset(dataset).title.toLowerCase()} at ${location.name}`
}
