import { getDataset, numbersOf } from '@bridgework/contract'
import type { ByLocation, Changes, DatasetName, FullReadReason, Scan, SourceCycle } from '../connector.ts'
import { IngestProblem, isAboutLocation } from '../ingest-client.ts'
import { type CycleContext, skipKey, type Target } from './context.ts'
import { beatInBetween, noteProblem, skip } from './heartbeat.ts'
import { type FinishedRead, reconcile } from './reconcile.ts'
import { Stopped } from './retry.ts'
import { refusedAgainAfterMs, reportRefused, uploadChanged } from './upload.ts'

/** Once a day everything is read and compared, whatever the change stamps say. */
const fullReadEveryMs = 24 * 60 * 60 * 1000

/** A nightly export is missed by then, also over a long weekend. */
const exportOldMs = 4 * 24 * 60 * 60 * 1000

/** What is about to be read, and how it will be known afterwards what is gone. */
type Plan = Pick<Scan, 'rowsMax' | 'chunks'> & { readonly rowsRead?: Scan['rowsRead'] } & (
    | { readonly by: 'list'; readonly keys: ByLocation<readonly string[]> }
    | { readonly by: 'scan'; readonly readNumber: number }
    | { readonly by: 'name'; readonly keys: readonly string[] }
  )

/**
 * Brings one dataset up to date at all locations: read what changed or is unknown, send what differs, then hide what is
 * gone. Nothing read is sent, and nothing hidden, before the source confirmed that it was quiet meanwhile. The cursor
 * moves last, so whatever happens in between is read again, and dropped by its hash.
 */
export async function syncDataset(
  context: CycleContext,
  source: SourceCycle,
  dataset: DatasetName,
  targets: readonly Target[],
  fullyRequested: boolean,
): Promise<void> {
  const startedAtMs = context.nowMs()
  const beganAtUpload = context.state.nextUploadNumber()
  const { cursor, fullReadAtMs } = context.state.datasetProgress(dataset)
  const keys = source.scan === undefined ? await source.listKeys(dataset) : null
  const changes = await source.findChanges(dataset, cursor, {
    between: (first, last) =>
      targets.flatMap(({ locationId }) => context.state.knownBetween(locationId, dataset, first, last)),
    each: function* () {
      for (const { sourceId: locationKey, locationId } of targets) {
        for (const { sourceId: key } of context.state.eachRecord(locationId, dataset)) yield { locationKey, key }
      }
    },
  })
  const rechecks = context.state.rechecks(dataset)
  let fully = fullReadReason(changes, fullyRequested, startedAtMs - fullReadAtMs)
  const isNew = targets.some(({ locationId }) => !context.state.locationProgress(locationId, dataset).isComplete)
  if (keys === null && isNew) fully ??= 'locations_changed'
  const notes = context.notes.mark(dataset)
  if (notes !== context.state.notesRead(dataset)) fully ??= 'notes_changed'

  // Of what came with the contract's numbers since, a record that did not change was never sent.
  const contract = numbersOf(getDataset(dataset), context.contract).at(-1) ?? 1
  if (contract !== (context.state.contractRead(dataset) ?? 1)) fully ??= 'contract_changed'

  const plan = await planRead(context, source, { dataset, targets, keys, changes, rechecks, fully })
  context.report({ event: 'dataset.reading', dataset, fully, rows: plan.rowsMax })
  const counts = await readAndSend(context, source, { dataset, targets, plan, beganAtUpload, fully, startedAtMs })
  if (targets.some((target) => context.skipped.has(skipKey(target.locationId, dataset)))) return
  context.state.finishDataset(dataset, changes.cursor, fully === null ? fullReadAtMs : startedAtMs)
  if (notes !== null) context.state.keepNotesRead(dataset, notes)
  context.state.keepContractRead(dataset, contract)
  context.state.clearRechecks(dataset, rechecks)
  reportMended(context, source, dataset)
  const writtenAtMs = source.readAt?.(dataset).getTime() ?? startedAtMs
  if (startedAtMs - writtenAtMs > exportOldMs) noteProblem(context, 'export_old', { dataset })
  context.report({ event: 'dataset.finished', dataset, ...counts, durationMs: context.nowMs() - startedAtMs })
}

/**
 * Reads again what a later dataset of the same cycle let go of: a patient whose last record at a location went away, an
 * appointment that lost a treatment. The cursor stays where it is.
 */
export async function syncRechecks(
  context: CycleContext,
  source: SourceCycle,
  dataset: DatasetName,
  targets: readonly Target[],
): Promise<void> {
  const rechecks = context.state.rechecks(dataset)
  const startedAtMs = context.nowMs()
  const beganAtUpload = context.state.nextUploadNumber()
  const chunks = source.readRecords(dataset, rechecks)
  const plan: Plan = { by: 'name', keys: rechecks, rowsMax: rechecks.length, chunks }
  await readAndSend(context, source, { dataset, targets, plan, beganAtUpload, fully: null, startedAtMs, isAgain: true })
  if (targets.some((target) => context.skipped.has(skipKey(target.locationId, dataset)))) return
  reportMended(context, source, dataset)
  context.state.clearRechecks(dataset, rechecks)
}

/** Says what was sent otherwise than it stands in the source: which columns and of how many rows, never a row. */
function reportMended({ report }: CycleContext, source: SourceCycle, dataset: DatasetName): void {
  for (const values of source.takeMended?.() ?? []) report({ event: 'values.mended', dataset, ...values })
}

async function planRead(
  context: CycleContext,
  source: SourceCycle,
  reading: {
    dataset: DatasetName
    targets: readonly Target[]
    keys: ByLocation<readonly string[]> | null
    changes: Changes
    rechecks: readonly string[]
    fully: FullReadReason | null
  },
): Promise<Plan> {
  const { dataset, targets, keys, changes, fully } = reading
  if (source.scan !== undefined && (fully !== null || changes.keys === 'all' || changes.namesGone !== true)) {
    return { by: 'scan', readNumber: context.state.beginRead(), ...(await source.scan(dataset)) }
  }
  const wanted = new Set(changes.keys === 'all' || fully !== null ? [] : [...changes.keys, ...reading.rechecks])
  for (const { locationId } of fully === null ? targets : []) {
    for (const { sourceId, triedAtMs } of context.state.refusedRecords(locationId, dataset).values()) {
      if (context.nowMs() - triedAtMs >= refusedAgainAfterMs) wanted.add(sourceId)
    }
  }
  if (keys === null) {
    const named = [...wanted]
    return { by: 'name', keys: named, rowsMax: named.length, chunks: source.readRecords(dataset, named) }
  }
  // What some location does not have yet.
  for (const { sourceId, locationId } of fully === null ? targets : []) {
    const known = context.state.knownKeys(locationId, dataset)
    for (const key of keys.get(sourceId) ?? []) if (!known.has(key)) wanted.add(key)
  }
  const read = fully === null ? [...wanted] : union(keys)
  return { by: 'list', keys, rowsMax: read.length, chunks: source.readRecords(dataset, read) }
}

async function readAndSend(
  context: CycleContext,
  source: SourceCycle,
  reading: {
    dataset: DatasetName
    targets: readonly Target[]
    plan: Plan
    beganAtUpload: number
    fully: FullReadReason | null
    startedAtMs: number
    /** True: only what a later dataset let go of. */
    isAgain?: true
  },
): Promise<{ rows: number; uploaded: number }> {
  const { dataset, targets, plan, startedAtMs } = reading
  const uploadedBefore = context.totals.uploaded
  /** Per location: what was asked for by name and met there; of a scan, what the server refused of what was met. */
  const met = new Map(targets.map(({ locationId }) => [locationId, new Set<string>()]))
  let rows = 0
  for await (const chunk of plan.chunks) {
    await source.confirm()
    for (const target of targets) {
      const { locationId } = target
      if (context.signal.aborted) throw new Stopped()
      if (context.skipped.has(skipKey(locationId, dataset))) continue
      const records = chunk.get(target.sourceId) ?? []
      await uploadChanged(context, target, dataset, records)
      const ids = records.map((record) => record.source_id)
      const refused = context.state.refusedRecords(locationId, dataset)
      if (plan.by === 'scan') context.state.markRead(locationId, dataset, ids, plan.readNumber)
      for (const id of ids) if (plan.by === 'name' || refused.has(id)) met.get(locationId)?.add(id)
    }
    rows += new Set([...chunk.values()].flatMap((records) => records.map((record) => record.source_id))).size
    const uploaded = context.totals.uploaded - uploadedBefore
    const pausedMs = source.pausedMs?.() ?? 0
    if (pausedMs > 0 && !context.totals.hasPaused) context.report({ event: 'source.busy' })
    context.totals.hasPaused ||= pausedMs > 0
    const rowsRead = plan.rowsRead?.() ?? rows
    // Rows that came since they were counted.
    const rowsTotal = plan.rowsMax === null ? null : Math.max(plan.rowsMax, rowsRead)
    context.report({ event: 'dataset.progress', dataset, rows: rowsRead, rowsTotal, uploaded, startedAtMs, pausedMs })
    context.reading = { dataset, rows_read: rowsRead, rows_total: rowsTotal }
    await beatInBetween(context)
  }
  context.reading = null

  await source.confirm()
  const withoutList: { target: Target; read: FinishedRead }[] = []
  let isAnyHeld = false
  for (const target of targets) {
    const isAgain = reading.isAgain === true
    const { isComplete } = context.state.locationProgress(target.locationId, dataset)
    const complete = !isAgain && (reading.fully !== null || !isComplete)
    const outcome = outcomeOf(context, target, dataset, plan, met.get(target.locationId) ?? new Set())
    const read = { ...outcome, beganAtUpload: reading.beganAtUpload, complete }
    const readAt = source.readAt?.(dataset) ?? new Date(startedAtMs)
    const namesGone = source.isComplete?.(dataset) ?? true
    const list = await finishLocation(context, target, dataset, { ...read, namesGone, isAgain }, readAt)
    if (list?.isSent === false) withoutList.push({ target, read: { ...read, complete: true } })
    isAnyHeld ||= list?.isNewlyHeld === true
    reportRefused(context, target, dataset)
  }
  // What is missing at one location may have moved to another one that had it before: the lists of the others tell.
  for (const { target, read } of isAnyHeld || context.hasLostLocation ? withoutList : []) {
    await atLocation(context, target, dataset, () => reconcile(context, target, dataset, read))
  }
  return { rows, uploaded: context.totals.uploaded - uploadedBefore }
}

/** What is missing at a location and what is there, by whichever way the read can tell. A refused record is there: it keeps its last good version. */
function outcomeOf(
  { state }: CycleContext,
  { sourceId, locationId }: Target,
  dataset: DatasetName,
  plan: Plan,
  met: ReadonlySet<string>,
): Pick<FinishedRead, 'missing' | 'unsent'> {
  const refused = state.refusedRecords(locationId, dataset)
  const isGone = (key: string): boolean => {
    if (plan.by === 'name') return plan.keys.includes(key) && !met.has(key)
    return plan.by === 'scan' ? !met.has(key) : !(plan.keys.get(sourceId) ?? []).includes(key)
  }
  // A refused record that is gone from the source needs no further mention.
  for (const key of refused.keys()) if (isGone(key)) state.clearRefused(locationId, dataset, key)
  const kept = [...refused.keys()].filter((key) => !isGone(key))

  if (plan.by === 'list') {
    const present = new Set(plan.keys.get(sourceId) ?? [])
    const known = state.knownKeys(locationId, dataset)
    return { missing: known.difference(present), unsent: () => present.difference(known) }
  }
  const missing =
    plan.by === 'scan'
      ? state.unreadKeys(locationId, dataset, plan.readNumber)
      : new Set(plan.keys.filter((key) => !met.has(key) && state.hashOf(locationId, dataset, key) !== null))
  return { missing, unsent: () => kept.filter((key) => state.hashOf(locationId, dataset, key) === null) }
}

function fullReadReason(changes: Changes, requested: boolean, sinceFullReadMs: number): FullReadReason | null {
  if (changes.keys === 'all') return changes.because
  if (requested) return 'requested'
  // Also when the clock went back behind the last one.
  return sinceFullReadMs >= fullReadEveryMs || sinceFullReadMs < 0 ? 'daily' : null
}

function union(keys: ByLocation<readonly string[]>): readonly string[] {
  const lists = [...new Set(keys.values())]
  return lists.length === 1 ? (lists[0] ?? []) : [...new Set(lists.flat())]
}

async function finishLocation(
  context: CycleContext,
  target: Target,
  dataset: DatasetName,
  read: FinishedRead & { namesGone: boolean; isAgain: boolean },
  readAt: Date,
): Promise<Awaited<ReturnType<typeof reconcile>> | null> {
  return await atLocation(context, target, dataset, async () => {
    const list = read.namesGone ? await reconcile(context, target, dataset, read) : null
    const { locationId } = target
    // What was only read again was not read as a whole.
    if (!read.isAgain)
      context.reads.set(skipKey(locationId, dataset), { locationId, dataset, readAt, complete: read.complete })
    return list
  })
}

/** Null where the service takes nothing of this location: that is said, and the others go on. */
async function atLocation<T>(
  context: CycleContext,
  target: Target,
  dataset: DatasetName,
  work: () => Promise<T>,
): Promise<T | null> {
  if (context.skipped.has(skipKey(target.locationId, dataset))) return null
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof IngestProblem) || !isAboutLocation(error)) throw error
    skip(context, target, dataset, error)
    return null
  }
}
