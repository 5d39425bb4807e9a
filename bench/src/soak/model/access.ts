import { type DatasetName, datasetNames, datasetsWithNotes } from '@bridgework/contract'

/** What an organization lets a company read; `locationId` null: at every location, with every future one. */
export type ModelGrant = { locationId: string | null; dataset: DatasetName; notes: boolean }

/** What a company may read of a dataset at a location now. Another `serial` than before: a new grant, so its first delta returns everything. */
export type Readable = { notes: boolean; serial: number; isSettled: boolean }

/** All grants, and what follows from them. */
export type ModelAccess = ReturnType<typeof createModelAccess>

export function createModelAccess() {
  const granted = new Map<string, readonly ModelGrant[]>()
  const readable = new Map<string, Readable>()
  let serials = 0
  const keyOf = (...parts: string[]) => parts.join(' ')

  const find = (companyId: string, locationId: string, dataset: DatasetName) =>
    readable.get(keyOf(companyId, locationId, dataset)) ?? null

  const grantsOf = (companyId: string, organizationId: string) => granted.get(keyOf(companyId, organizationId)) ?? []

  /** Makes what follows from the grants of a company at these locations right again. */
  const follow = (companyId: string, organizationId: string, locationIds: readonly string[]) => {
    const grants = grantsOf(companyId, organizationId)
    for (const locationId of locationIds) {
      for (const dataset of datasetNames) {
        const key = keyOf(companyId, locationId, dataset)
        const own = grants.filter((each) => each.dataset === dataset && [null, locationId].includes(each.locationId))
        const notes = own.some((each) => each.notes) && datasetsWithNotes.includes(dataset)
        if (own.length === 0) readable.delete(key)
        else if (readable.get(key)?.notes !== notes) {
          serials += 1
          readable.set(key, { notes, serial: serials, isSettled: false })
        }
      }
    }
  }

  return {
    find,
    grantsOf,
    follow,
    /** The company may read this of the organization from now on, and nothing else. `locationIds`: all of the organization. */
    set(companyId: string, organizationId: string, grants: readonly ModelGrant[], locationIds: readonly string[]) {
      granted.set(keyOf(companyId, organizationId), grants)
      follow(companyId, organizationId, locationIds)
    },
    /** Whether any of the companies may read notes of a dataset. */
    hasNotes: (companyIds: readonly string[], locationId: string, dataset: DatasetName) =>
      companyIds.some((companyId) => find(companyId, locationId, dataset)?.notes === true),
    /** What a company may read at a location, in the contract's order. */
    datasetsOf: (companyId: string, locationId: string) =>
      datasetNames.filter((dataset) => find(companyId, locationId, dataset) !== null),
  }
}
