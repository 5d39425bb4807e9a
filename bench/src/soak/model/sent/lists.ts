import type { DatasetName } from '@bridgework/contract'
import { hide, type ModelDataset, type ModelLocation, visibleOf } from '../model.ts'

/** What a complete list leads to: what is missing is hidden, at once or by and by, or waits for a person. */
export type ListOutcome =
  | { state: 'done'; hidden: number }
  | { state: 'running'; remaining: number }
  | { state: 'held'; missing: number; visible: number }

/** More are hidden in several turns, and listed in several. */
export const atOnceMax = 5_000

/**
 * What a complete list of an agent does, as docs/decisions/uploads-and-reconcile.md says it: everything visible that it does not name, that no
 * upload had since its reading began, and that nobody decided to keep.
 */
export function applyList(
  location: ModelLocation,
  name: DatasetName,
  list: { listed: ReadonlySet<string>; beganAtUpload: number },
): ListOutcome {
  const dataset = location.datasets[name]
  const unlisted = visibleOf(dataset).filter(({ sourceId }) => !list.listed.has(sourceId))
  const missing = unlisted
    .filter(({ namedBy }) => namedBy < list.beganAtUpload)
    .map(({ sourceId }) => sourceId)
    .filter((sourceId) => !dataset.kept.has(sourceId))
  const visible = visibleOf(dataset).length - dataset.kept.size
  const isLong = unlisted.length > atOnceMax
  if (dataset.held && isLong && isSame(dataset.held.left, missing))
    return { state: 'held', missing: missing.length, visible: dataset.held.visible }
  if (isLarge(missing.length, visible)) {
    // The same list sent again is still the same one, without what came back since.
    const isKnown = dataset.held !== null && !isLong && isSame(dataset.held.listed, missing)
    if (!isKnown) dataset.held = { listed: new Set(missing), left: new Set(missing), visible }
    return { state: 'held', missing: missing.length, visible }
  }
  dataset.held = null
  const hidden = hide(location, name, missing)
  return isLong && hidden > 0 ? { state: 'running', remaining: hidden } : { state: 'done', hidden }
}

function isSame(keys: ReadonlySet<string>, others: readonly string[]): boolean {
  return keys.size === others.length && others.every((key) => keys.has(key))
}

/** All visible records, or more than a fifth of them and at least ten. */
function isLarge(missing: number, visible: number): boolean {
  return missing > 0 && (missing === visible || (missing >= 10 && missing * 5 > visible))
}

/** A person confirms what waits. */
export function confirmHeld(location: ModelLocation, dataset: ModelDataset): number {
  const left = dataset.held?.left ?? []
  dataset.held = null
  return hide(location, dataset.name, left)
}

/** A person rejects what waits. */
export function keepHeld(dataset: ModelDataset): void {
  for (const sourceId of dataset.held?.left ?? []) dataset.kept.add(sourceId)
  dataset.held = null
}
