import type { Connection } from './connection.ts'
import { pageSizeDefault, segment } from './dataset-resource.ts'
import { refuseUnknownOptions } from './did-you-mean.ts'
import type { LocationAttributes, OrganizationAttributes } from './generated.ts'
import { type List, listOf, pageOf, recordOf } from './pages/page.ts'

export type LocationRecord = { id: string; type: 'location'; attributes: LocationAttributes }
export type OrganizationRecord = { id: string; type: 'organization'; attributes: OrganizationAttributes }

/** How current one dataset of a location is. */
export type SyncStatus = {
  id: string
  type: 'sync_status'
  attributes: {
    dataset: string
    state: string
    synced_at: string | null
    total: number
    initial_sync_completed_at: string | null
    removal_held: unknown
    /** Attributes that the practice's system never has here: null means unknown. */
    attributes_not_provided: string[]
  }
}

export type LocationsResource = {
  /** The locations that this key pair may read. */
  list: (options?: {
    organizationId?: string
    /** Only those whose website carries the attribution script. */
    withAttributionScript?: boolean
    pageSize?: number
    signal?: AbortSignal
  }) => List<LocationRecord>
  get: (options: { locationId: string; signal?: AbortSignal }) => Promise<LocationRecord>
  /** How current each dataset is. Costs no sync slot. */
  syncStatus: (options: { locationId: string; signal?: AbortSignal }) => Promise<SyncStatus[]>
}

export type OrganizationsResource = {
  /** The owners of the locations that this key pair may read. */
  list: (options?: { pageSize?: number; signal?: AbortSignal }) => List<OrganizationRecord>
  get: (options: { organizationId: string; signal?: AbortSignal }) => Promise<OrganizationRecord>
}

export function locationsResource(connection: Connection): LocationsResource {
  return {
    list(options = {}) {
      const known = ['organizationId', 'withAttributionScript', 'pageSize', 'signal']
      refuseUnknownOptions('locations.list', options, known)
      const { organizationId, withAttributionScript = false, pageSize, signal } = options
      const query = new Map<string, string>()
      if (organizationId !== undefined) query.set('organization_id', organizationId)
      if (withAttributionScript) query.set('with_attribution_script_install', 'true')
      return pagesOf(connection, '/locations', query, pageSize ?? directoryPageSize, signal)
    },
    async get({ locationId, signal }) {
      return recordOf(await connection.get(`/locations/${segment(locationId)}`, { signal }))
    },
    async syncStatus({ locationId, signal }) {
      const { body } = await connection.get(`/locations/${segment(locationId)}/sync_status`, { signal })
      // A list without paging: spec's envelope has `data` alone here.
      return body.data as SyncStatus[]
    },
  }
}

export function organizationsResource(connection: Connection): OrganizationsResource {
  return {
    list(options = {}) {
      refuseUnknownOptions('organizations.list', options, ['pageSize', 'signal'])
      const { pageSize = pageSizeDefault, signal } = options
      return pagesOf(connection, '/organizations', new Map(), pageSize, signal)
    },
    async get({ organizationId, signal }) {
      return recordOf(await connection.get(`/organizations/${segment(organizationId)}`, { signal }))
    },
  }
}

/** As many as a page may hold: in page mode a walk may skip one when a grant ends between two pages. */
const directoryPageSize = 5000

function pagesOf<Item>(
  connection: Connection,
  path: string,
  filters: ReadonlyMap<string, string>,
  pageSize: number,
  signal: AbortSignal | undefined,
): List<Item> {
  return listOf<Item>(null, async (position) => {
    const query = new Map([...filters, ['items', String(pageSize)] as const])
    if (position !== null) query.set('page', position)
    return pageOf<Item>(await connection.get(path, { query, signal }))
  })
}
