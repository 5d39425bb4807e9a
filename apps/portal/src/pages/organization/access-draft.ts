import type { PortalBodies, VendorPage } from '@bridgework/contract/portal'

/** What a vendor may read: datasets for every location, those of the future included, and datasets of single locations beyond those. */
export type Access = { all: ReadonlySet<string>; single: ReadonlyMap<string, ReadonlySet<string>> }

/** One line of the review: these datasets are opened or closed at these locations, and at future ones or not. */
export type Change = { act: 'open' | 'close'; location_ids: string[]; future: boolean; datasets: string[] }

export function accessOf({ all_locations, locations }: Pick<VendorPage, 'all_locations' | 'locations'>): Access {
  const all = new Set(all_locations)
  const beyond = (datasets: string[]) => new Set(datasets.filter((dataset) => !all.has(dataset)))
  return { all, single: new Map(locations.map(({ id, datasets }) => [id, beyond(datasets)])) }
}

/** An access as the server takes it. */
export function bodyOf(access: Access): Omit<PortalBodies['changeVendorAccess'], 'access_version'> {
  type Datasets = PortalBodies['changeVendorAccess']['all_locations']
  // The names come from the practice's own list of datasets.
  const names = (datasets: ReadonlySet<string>) => [...datasets] as Datasets
  const locations = [...access.single].map(([id, datasets]) => ({ id, datasets: names(datasets) }))
  return { all_locations: names(access.all), locations: locations.filter(({ datasets }) => datasets.length > 0) }
}

/** Whether a dataset of a location is open. */
export function isOpen(access: Access, locationId: string, dataset: string): boolean {
  return access.all.has(dataset) || (access.single.get(locationId)?.has(dataset) ?? false)
}

/** What becomes different, in lines for a person: datasets that change at the same places share one. */
export function changesOf(
  now: Access,
  wanted: Access,
  locationIds: readonly string[],
  datasets: readonly string[],
): Change[] {
  const lines = new Map<string, Change>()
  for (const act of ['close', 'open'] as const) {
    const [from, to] = act === 'open' ? [now, wanted] : [wanted, now]
    for (const dataset of datasets) {
      const location_ids = locationIds.filter((id) => isOpen(to, id, dataset) && !isOpen(from, id, dataset))
      const future = to.all.has(dataset) && !from.all.has(dataset)
      if (location_ids.length === 0 && !future) continue
      const key = `${act} ${future} ${location_ids.join(' ')}`
      const line = lines.get(key) ?? { act, location_ids, future, datasets: [] }
      line.datasets.push(dataset)
      lines.set(key, line)
    }
  }
  return [...lines.values()]
}

/**
 * The same access with one cell turned. `locationId` null: the line of all locations, which decides for each of them. To take one location
 * out of all leaves the others of `locationIds`, and no future one.
 */
export function turned(
  access: Access,
  locationId: string | null,
  dataset: string,
  locationIds: readonly string[],
): Access {
  const all = new Set(access.all)
  if (!all.delete(dataset) && locationId === null) all.add(dataset)
  const single = locationIds.map((id) => {
    const names = new Set(access.single.get(id))
    const isTicked = locationId !== null && isOpen(access, id, dataset) !== (id === locationId)
    if (isTicked) names.add(dataset)
    else names.delete(dataset)
    return [id, names] as const
  })
  return { all, single: new Map(single) }
}
