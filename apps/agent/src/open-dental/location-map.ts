import { type SourceLocation, timeZoneUnknown } from '../connector.ts'

/** Where a row belongs, by its `ClinicNum`. */
export type LocationMap = {
  readonly ids: readonly string[]
  /** True when everything is in one place, so that no record needs a lookup. */
  readonly isSingle: boolean
  of(clinicNum: string | null | undefined): string
  /** The zone of the location's wall clock. Throws where it is not known: nothing of such a location is read. */
  zoneOf(locationId: string): string
}

/** Without clinics all rows are the practice's; with them, those of no clinic, or of one that is gone, are headquarters'. */
export function locationMap(locations: readonly SourceLocation[]): LocationMap {
  const zones = new Map(locations.map((location) => [location.source_id, location.time_zone]))
  return {
    ids: [...zones.keys()],
    isSingle: zones.size === 1,
    of: (clinicNum) => {
      if (clinicNum !== null && clinicNum !== undefined && zones.has(clinicNum)) return clinicNum
      return zones.has('0') ? '0' : ([...zones.keys()][0] ?? '0')
    },
    zoneOf: (locationId) => {
      const zone = zones.get(locationId)
      if (zone === null || zone === undefined) throw timeZoneUnknown([...locations])
      return zone
    },
  }
}

/** Puts each record where its row belongs. */
export function byLocation<T>(items: Iterable<readonly [string, T]>): Map<string, T[]> {
  const all = new Map<string, T[]>()
  for (const [locationId, item] of items) {
    const list = all.get(locationId)
    if (list === undefined) all.set(locationId, [item])
    else list.push(item)
  }
  return all
}
