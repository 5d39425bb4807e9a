import type { PortalBodies, VendorPage } from '@bridgework/contract/portal'

/**
 * What a vendor may read: datasets for every location, those of the future included, and datasets of single locations beyond those. The notes
 * of a dataset have a name of their own beside it.
 */
export type Access = { all: ReadonlySet<string>; single: ReadonlyMap<string, ReadonlySet<string>> }

/** One line of the review: these datasets are opened or closed at these locations, and at future ones or not. */
export type Change = { act: 'open' | 'close'; location_ids: string[]; future: boolean; datasets: string[] }

const suffix = ' notes'

/** The name of a dataset's notes among what may be read. */
export function notesOf(dataset: string): string {
  return `${dataset}${suffix}`
}

/** The dataset whose notes have this name; null when it is the name of a dataset. */
export function datasetOfNotes(name: string): string | null {
  return name.endsWith(suffix) ? name.slice(0, -suffix.length) : null
}

export function accessOf({
  all_locations,
  all_locations_notes,
  locations,
}: Pick<VendorPage, 'all_locations' | 'all_locations_notes' | 'locations'>): Access {
  const all = new Set([...all_locations, ...all_locations_notes.map(notesOf)])
  const beyond = (names: string[]) => new Set(names.filter((name) => !all.has(name)))
  return {
    all,
    single: new Map(locations.map(({ id, datasets, notes }) => [id, beyond([...datasets, ...notes.map(notesOf)])])),
  }
}

/** An access as the server takes it. */
export function bodyOf(access: Access): Omit<PortalBodies['changeVendorAccess'], 'access_version'> {
  type Body = PortalBodies['changeVendorAccess']
  const split = (names: ReadonlySet<string>) => {
    const notes = [...names].flatMap((name) => datasetOfNotes(name) ?? [])
    const datasets = [...names].filter((name) => datasetOfNotes(name) === null)
    // Notes stand beside their dataset, also where that is granted for all locations. The names come from the practice's own list of datasets.
    return { datasets: [...new Set([...datasets, ...notes])], notes } as Required<Body['locations'][number]>
  }
  const { datasets, notes } = split(access.all)
  const locations = [...access.single].map(([id, names]) => ({ ...split(names), id }))
  return {
    all_locations: datasets,
    all_locations_notes: notes as NonNullable<Body['all_locations_notes']>,
    locations: locations.filter((location) => location.datasets.length > 0),
  }
}

/** Whether a dataset of a location is open, or its notes. */
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
 * out of all leaves the others of `locationIds`, and no future one. Where a dataset closes, its notes do.
 */
export function turned(
  access: Access,
  locationId: string | null,
  name: string,
  locationIds: readonly string[],
): Access {
  const next = withTurned(access, locationId, name, locationIds)
  const notes = notesOf(name)
  if (!next.all.has(name) && next.all.has(notes)) {
    const all = new Set([...next.all].filter((each) => each !== notes))
    const single = locationIds.map((id) => [id, new Set([...(next.single.get(id) ?? []), notes])] as const)
    return withoutOrphans({ all, single: new Map(single) }, name)
  }
  return withoutOrphans(next, name)
}

function withoutOrphans(access: Access, dataset: string): Access {
  const kept = (id: string, names: ReadonlySet<string>) =>
    isOpen(access, id, dataset) ? names : new Set([...names].filter((each) => each !== notesOf(dataset)))
  return { all: access.all, single: new Map([...access.single].map(([id, names]) => [id, kept(id, names)])) }
}

function withTurned(
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
