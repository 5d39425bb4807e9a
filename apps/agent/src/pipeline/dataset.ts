import type { ByLocation, Changes, DatasetName, FullReadReason, SourceCycle } from '../connector.ts'
import { IngestProblem } from '../ingest-client.ts'
import { type CycleContext, retrying, skipKey, type Target } from './context.ts'
import { reconcile } from './reconcile.ts'
import { Stopped } from './retry.ts'
import { refusedAgainAfterMs, reportRefused, uploadChanged } from './upload.ts'

/** Once a day everything is read and compared, whatever the change stamps say. */
const fullReadEveryMs = 24 * 60 * 60 * 1000

/**
 * Brings one dataset up to date at all locations: list the keys, read what changed or is unknown, send what differs,
 * then hide what is gone. Nothing read is sent, and nothing hidden, before the source confirmed that it was quiet
 * meanwhile. The cursor moves last, so whatever happens in between is read again, and dropped by its hash.
 */
export async function syncDataset(
  context: CycleContext,
  source: SourceCycle,
  dataset: DatasetName,
  targets: readonly Target[],
  fullyRequested: boolean,
): Promise<void> {
  const startedAtMs = context.nowMs()
  const uploadedBefore = context.totals.uploaded
  const beganAtUpload = context.state.nextUploadNumber()
  const { cursor, fullReadAtMs } = context.state.datasetProgress(dataset)
  const keys = await source.listKeys(dataset)
  const changes = await source.findChanges(dataset, cursor)
  const fully = fullReadReason(changes, fullyRequested, startedAtMs - fullReadAtMs)
  const wanted = fully === null ? wantedKeys(context, dataset, targets, keys, changes) : union(keys)
  context.report({ event: 'dataset.reading', dataset, fully, rows: wanted.length })

  let rows = 0
  for await (const chunk of source.readRecords(dataset, wanted)) {
    await source.confirm()
    for (const target of targets) {
      if (context.signal.aborted) throw new Stopped()
      if (context.skipped.has(skipKey(target.locationId, dataset))) continue
      await uploadChanged(context, target, dataset, chunk.get(target.sourceId) ?? [])
    }
    rows += Math.max(0, ...[...chunk.values()].map((records) => records.length))
    const uploaded = context.totals.uploaded - uploadedBefore
    context.report({ event: 'dataset.progress', dataset, rows, rowsTotal: wanted.length, uploaded, startedAtMs })
  }

  await source.confirm()
  for (const target of targets) {
    const complete = fully !== null || !context.state.locationProgress(target.locationId, dataset).isComplete
    const read = { keys: keys.get(target.sourceId) ?? [], beganAtUpload, complete }
    await finishLocation(context, target, dataset, read, new Date(startedAtMs))
    reportRefused(context, target, dataset)
  }
  if (targets.some((target) => context.skipped.has(skipKey(target.locationId, dataset)))) return
  context.state.finishDataset(dataset, changes.cursor, fully === null ? fullReadAtMs : startedAtMs)
  const uploaded = context.totals.uploaded - uploadedBefore
  context.report({ event: 'dataset.finished', dataset, rows, uploaded, durationMs: context.nowMs() - startedAtMs })
}

function fullReadReason(changes: Changes, requested: boolean, sinceFullReadMs: number): FullReadReason | null {
  if (changes.keys === 'all') return changes.because
  if (requested) return 'requested'
  // Also when the clock went back behind the last one.
  return sinceFullReadMs >= fullReadEveryMs || sinceFullReadMs < 0 ? 'daily' : null
}

/** What changed, what some location does not have yet, and refused records whose time has come. */
function wantedKeys(
  context: CycleContext,
  dataset: DatasetName,
  targets: readonly Target[],
  keys: ByLocation<readonly string[]>,
  changes: Changes,
): string[] {
  const wanted = new Set(changes.keys === 'all' ? [] : changes.keys)
  for (const target of targets) {
    const known = context.state.knownKeys(target.locationId, dataset)
    for (const key of keys.get(target.sourceId) ?? []) if (!known.has(key)) wanted.add(key)
    for (const { sourceId, triedAtMs } of context.state.refusedRecords(target.locationId, dataset).values()) {
      if (context.nowMs() - triedAtMs >= refusedAgainAfterMs) wanted.add(sourceId)
    }
  }
  return [...wanted]
}

function union(keys: ByLocation<readonly string[]>): readonly string[] {
  const lists = [...new Set(keys.values())]
  return lists.length === 1 ? (lists[0] ?? []) : [...new Set(lists.flat())]
}

async function finishLocation(
  context: CycleContext,
  target: Target,
  dataset: DatasetName,
  read: { keys: readonly string[]; beganAtUpload: number; complete: boolean },
  readAt: Date,
): Promise<void> {
  const { client, state, skipped } = context
  if (skipped.has(skipKey(target.locationId, dataset))) return
  try {
    await reconcile(context, target, dataset, read)
    await retrying(context, () => client.reportCycle(target.locationId, dataset, { readAt, complete: read.complete }))
    if (read.complete) state.markComplete(target.locationId, dataset)
  } catch (error) {
    if (!(error instanceof IngestProblem) || (error.kind !== 'denied' && error.kind !== 'unknown')) throw error
    skipped.add(skipKey(target.locationId, dataset))
    context.report({
      event: 'location.skipped',
      locationId: target.locationId,
      dataset,
      because: error.kind,
      errors: error.errors,
    })
  }
}
