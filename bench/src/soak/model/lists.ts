import type { DatasetName } from '@bridgework/contract'
import { hide, type ModelDataset, type ModelLocation, visibleOf } from './model.ts'

/** What a complete list leads to: what is missing is hidden, or waits for a person. */
export type ListOutcome = { state: 'done'; hidden: number } | { state: 'held'; missing: number; visible: number }

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
  const missing = visibleOf(dataset)
    .filter(({ sourceId, namedBy }) => !list.listed.has(sourceId) && namedBy < list.beganAtUpload)
    .map(({ sourceId }) => sourceId)
    .filter((sourceId) => !dataset.kept.has(sourceId))
  const visible = visibleOf(dataset).length - dataset.kept.size
  if (isLarge(missing.length, visible)) {
    const { listed, left } = dataset.held ?? { listed: new Set(), left: new Set() }
    const isSame = [listed, left].every((keys) => keys.size === missing.length && missing.every((key) => keys.has(key)))
    if (!isSame) dataset.held = { listed: new Set(missing), left: new Set(missing), visible }
    return { state: 'held', missing: missing.length, visible }
  }
  dataset.held = null
  return { state: 'done', hidden: hide(location, name, missing) }
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
