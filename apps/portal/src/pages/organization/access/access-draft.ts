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

/** What a vendor's page or a draft says of an access. */
type Shown = Pick<VendorPage, 'all_locations' | 'all_locations_notes'> & {
  locations: readonly Pick<VendorPage['locations'][number], 'id' | 'datasets' | 'notes'>[]
}

export function accessOf({ all_locations, all_locations_notes, locations }: Shown): Access {
  const all = new Set([...all_locations, ...all_locations_notes.map(notesOf)])
  const beyond = (names: string[]) => new Set(names.filter((name) => !all.has(name)))
  return {
    all,
    single: new Map(locations.map(({ id, datasets, notes }) => [id, beyond([...datasets, ...notes.map(notesOf)])])),
  }
}

/** An access as the server takes it, and as a draft is kept. */
export function bodyOf(access: Access): Shown & Omit<PortalBodies['changeVendorAccess'], 'access_version'> {
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

/** Cells of the matrix: these datasets (or their notes) at these locations. `at` null: at all locations, future ones included. */
export type Cells = { at: readonly string[] | null; names: readonly string[] }

/**
 * The same access with these cells open or closed. Where a dataset that is open at all locations closes at some, the other ones of
 * `locationIds` keep it, and no future one gets it. Where a dataset closes, its notes do.
 */
export function withCells(access: Access, cells: Cells, open: boolean, locationIds: readonly string[]): Access {
  const here = cells.at && new Set(cells.at)
  if (here?.size === 0) return access
  const names = open ? cells.names : cells.names.flatMap((name) => [name, notesOf(name)])
  const all = new Set(access.all)
  for (const name of names) {
    if (!open) all.delete(name)
    else if (here === null) all.add(name)
  }
  const single = locationIds.map((id) => {
    const own = new Set(access.single.get(id))
    for (const name of names) {
      const isWanted = here === null || here.has(id) ? open : isOpen(access, id, name)
      if (isWanted && !all.has(name)) own.add(name)
      else own.delete(name)
    }
    return [id, own] as const
  })
  return { all, single: new Map(single) }
}

/** How many of some cells are open. */
export type Ticks = 'all' | 'some' | 'none'

/** How many of these cells are open; none where there is no cell. */
export function ticksOf(access: Access, { at, names }: Cells): Ticks {
  const places = at ?? [null]
  let open = 0
  for (const id of places) {
    for (const name of names) if (id === null ? access.all.has(name) : isOpen(access, id, name)) open += 1
  }
  if (open === 0) return 'none'
  return open === places.length * names.length ? 'all' : 'some'
}
