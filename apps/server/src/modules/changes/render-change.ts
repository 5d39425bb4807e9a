import type { OrganizationId } from '../../platform/identity/identity.ts'
import { freshnessOf } from '../datasets/freshness.ts'
import { watermarkAfter } from '../datasets/stamp.ts'
import type { ChangeRow } from './change-rows.ts'

/** What says how fresh a dataset is. */
export type RenderContext = { lastContactOf: (id: OrganizationId) => Promise<Date | null>; now: () => Date }

/** A row as vendors receive it. Nothing of a patient's, and no number of records but that of a removal which waits. */
export async function renderChange(context: RenderContext, row: ChangeRow) {
  switch (row.kind) {
    case 'agreement':
      return {
        id: String(row.version),
        type: row.kind,
        attributes: {
          version: row.version,
          enforced_at: row.enforcedAt,
          accepted_at: row.acceptedAt,
        },
      }
    case 'key':
      return {
        id: row.clientId,
        type: row.kind,
        attributes: { client_id: row.clientId, ended_at: row.endedAt },
      }
    case 'location':
      return {
        id: row.locationId,
        type: row.kind,
        attributes: {
          location_id: row.locationId,
          organization_id: row.organizationId,
          is_active: row.isActive,
          updated_at: row.updatedAt,
        },
      }
    case 'grant':
      return {
        id: `${row.locationId}/${row.dataset}`,
        type: row.kind,
        attributes: {
          location_id: row.locationId,
          dataset: row.dataset,
          granted_at: row.grantedAt,
          ended_at: row.endedAt,
        },
      }
    case 'dataset': {
      const state = await freshnessOf(row, row, () => context.lastContactOf(row.organizationId), context.now())
      return {
        id: `${row.locationId}/${row.dataset}`,
        type: row.kind,
        attributes: {
          location_id: row.locationId,
          dataset: row.dataset,
          next_fetch_modified_since: row.isRead ? watermarkAfter(row.lastStamp) : null,
          granted_at: row.grantedAt,
          freshness: { synced_at: row.syncedAt, state },
          removal_held: row.held && {
            missing: row.held.missing,
            visible: row.held.visible,
            held_at: row.held.heldAt,
          },
        },
      }
    }
  }
}
