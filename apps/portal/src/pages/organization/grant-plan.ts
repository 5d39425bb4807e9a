/** What a vendor may read: datasets for every location, those of the future included, and datasets of single locations. */
export type Access = { all: ReadonlySet<string>; single: ReadonlyMap<string, ReadonlySet<string>> }

/** One call: these datasets at these locations. */
export type Step = { act: 'grant' | 'revoke'; location_ids: 'all' | string[]; datasets: string[] }

/** Whether a dataset of a location is open. */
export function isOpen(access: Access, locationId: string, dataset: string): boolean {
  return access.all.has(dataset) || (access.single.get(locationId)?.has(dataset) ?? false)
}

/**
 * The calls that lead from what is open to what shall be, revocations first. What is open for all locations cannot be taken from one of them:
 * it is revoked for all, and granted for those that shall keep it.
 */
export function planOf(
  now: Access,
  wanted: Access,
  locationIds: readonly string[],
  datasets: readonly string[],
): Step[] {
  const steps: Record<Step['act'], Map<string, Step>> = { grant: new Map(), revoke: new Map() }
  const add = (act: Step['act'], ids: 'all' | string[], dataset: string) => {
    if (ids.length === 0) return
    const key = ids === 'all' ? ids : ids.join(' ')
    const step = steps[act].get(key)
    if (step) step.datasets.push(dataset)
    else steps[act].set(key, { act, location_ids: ids, datasets: [dataset] })
  }
  for (const dataset of datasets) {
    if (now.all.has(dataset) && wanted.all.has(dataset)) continue
    if (wanted.all.has(dataset)) {
      add('grant', 'all', dataset)
      continue
    }
    const before = now.all.has(dataset) ? [] : locationIds.filter((id) => isOpen(now, id, dataset))
    const after = locationIds.filter((id) => isOpen(wanted, id, dataset))
    if (now.all.has(dataset)) add('revoke', 'all', dataset)
    const closed = before.filter((id) => !after.includes(id))
    const opened = after.filter((id) => !before.includes(id))
    add('revoke', closed, dataset)
    add('grant', opened, dataset)
  }
  return [...steps.revoke.values(), ...steps.grant.values()]
}

/** The same access with one cell turned. `locationId` null: the line of all locations, which decides for each of them. */
export function turned(access: Access, locationId: string | null, dataset: string): Access {
  if (locationId === null) {
    const all = new Set(access.all)
    if (!all.delete(dataset)) all.add(dataset)
    const single = new Map([...access.single].map(([id, names]) => [id, without(names, dataset)]))
    return { all, single }
  }
  const names = new Set(access.single.get(locationId))
  if (!names.delete(dataset)) names.add(dataset)
  return { all: access.all, single: new Map(access.single).set(locationId, names) }
}

function without(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  return new Set([...names].filter((other) => other !== name))
}
