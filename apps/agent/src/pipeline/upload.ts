import type { DatasetName, SourceRecord } from '../connector.ts'
import { IngestProblem, isAboutLocation } from '../ingest-client.ts'
import type { RefusedRecord } from '../state/state.ts'
import { type CycleContext, retrying, type Target } from './context.ts'
import { askFirst, noteProblem, skip } from './heartbeat.ts'
import { batches, type Line, lineOf, packLines, unpackLines } from './line.ts'

/** A refused record is tried again when it changed, else this much later: the server may have learnt to take it. */
export const refusedAgainAfterMs = 60 * 60 * 1000

/** More than this in one cycle is no bad record but a disagreement between agent and server. */
const refusedMax = 100

/** Sends again what was kept before the process ended, under the same number; then it is known whether the server had it. */
export async function resumeUpload(context: CycleContext): Promise<void> {
  for (let upload = context.state.pendingUpload(); upload !== null; upload = context.state.pendingUpload()) {
    context.report({ event: 'upload.resumed', number: upload.number })
    const lines = unpackLines(upload.dataset, upload.body, upload.bearsOn, context.contract)
    try {
      await retrying(context, () =>
        context.client.sendRecords(upload.locationId, upload.dataset, upload.number, upload.body),
      )
      context.state.completeUpload(upload, lines)
    } catch (error) {
      // Nothing of it was stored. The coming read finds these records unsent and treats them one by one.
      if (!(error instanceof IngestProblem) || !storedNothing(error)) throw error
      if (error.kind === 'key_reused') startOver(context)
      else context.state.abandonUpload(upload)
    }
  }
}

/** Sends those of the records that the server does not have in this version. */
export async function uploadChanged(
  context: CycleContext,
  target: Target,
  dataset: DatasetName,
  records: readonly SourceRecord[],
): Promise<void> {
  const { state, limits } = context
  const refused = state.refusedRecords(target.locationId, dataset)
  const lines = context.notes
    .applyTo(target.sourceId, dataset, records)
    .map((record) => lineOf(dataset, record, context.contract))
    .filter(
      (line) => state.hashOf(target.locationId, dataset, line.sourceId) !== line.hash || refused.has(line.sourceId),
    )
    .filter((line) => mayBeTried(context, target, dataset, line, refused.get(line.sourceId)))
  for (const batch of batches(lines, limits)) await sendBatch(context, target, dataset, batch)
}

/**
 * Sends one batch. A refused line is put aside and the rest is sent again under a new number, because a number and its
 * body belong together for ever; a batch that is too large is halved.
 */
async function sendBatch(
  context: CycleContext,
  target: Target,
  dataset: DatasetName,
  lines: readonly Line[],
): Promise<void> {
  if (lines.length === 0) return
  await askFirst(context)
  const upload = context.state.beginUpload(
    target.locationId,
    dataset,
    packLines(lines),
    lines.map((line) => line.bearsOn),
  )
  try {
    await retrying(context, () => context.client.sendRecords(target.locationId, dataset, upload.number, upload.body))
    context.state.completeUpload(upload, lines)
    context.totals.uploaded += lines.length
  } catch (error) {
    if (!(error instanceof IngestProblem) || !storedNothing(error)) throw error
    context.state.abandonUpload(upload)
    await afterRefusal(context, target, dataset, lines, error)
  }
}

async function afterRefusal(
  context: CycleContext,
  target: Target,
  dataset: DatasetName,
  lines: readonly Line[],
  problem: IngestProblem,
): Promise<void> {
  if (problem.kind === 'key_reused') {
    startOver(context)
    throw problem
  }
  if (problem.kind === 'unexpected') throw problem
  if (isAboutLocation(problem)) {
    skip(context, target, dataset, problem)
    return
  }
  const bad = problem.kind === 'record_invalid' ? linesNamed(problem, lines) : []
  const only = lines.length === 1 ? lines : bad
  if (only.length === 0) {
    const half = Math.ceil(lines.length / 2)
    await sendBatch(context, target, dataset, lines.slice(0, half))
    await sendBatch(context, target, dataset, lines.slice(half))
    return
  }
  for (const line of only) putAside(context, target, dataset, line, problem.errors)
  if (context.totals.refusedNow > refusedMax) {
    throw new IngestProblem(
      'record_invalid',
      `The server refused more than ${refusedMax} records; the last reason was: ${problem.errors}`,
    )
  }
  await sendBatch(
    context,
    target,
    dataset,
    lines.filter((line) => !only.includes(line)),
  )
}

/** The refused line. A server of release 0.1 names it in its text only: "Line 17: attributes.name must be a string." */
function linesNamed({ line, errors }: IngestProblem, lines: readonly Line[]): Line[] {
  const inText = [...errors.matchAll(/\bline (\d{1,6})\b/gi)].map((match) => Number(match[1]))
  const named = new Set(line === null ? inText : [line])
  return lines.filter((_, index) => named.has(index + 1))
}

function putAside(context: CycleContext, target: Target, dataset: DatasetName, line: Line, errors: string): void {
  context.state.refuse(target.locationId, dataset, {
    sourceId: line.sourceId,
    hash: line.hash,
    errors,
    triedAtMs: context.nowMs(),
  })
  context.totals.refusedNow += 1
}

function mayBeTried(
  context: CycleContext,
  target: Target,
  dataset: DatasetName,
  line: Line,
  refused: RefusedRecord | undefined,
): boolean {
  if (line.sourceId.includes('\u0000')) {
    putAside(context, target, dataset, line, 'The key contains a NUL character.')
    return false
  }
  return refused?.hash !== line.hash || context.nowMs() - refused.triedAtMs >= refusedAgainAfterMs
}

/** Says at every cycle which records the server does not take: they are missing from what vendors see. */
export function reportRefused(context: CycleContext, target: Target, dataset: DatasetName): void {
  const refused = context.state.refusedRecords(target.locationId, dataset)
  if (refused.size > 0) noteProblem(context, 'records_refused', { dataset, locationId: target.locationId })
  for (const { sourceId, errors } of refused.values()) {
    context.totals.refused += 1
    const printable = sourceId.replace(/\p{C}/gu, ' ')
    context.report({ event: 'record.refused', locationId: target.locationId, dataset, sourceId: printable, errors })
  }
}

function startOver(context: CycleContext): void {
  context.report({ event: 'state.behind', because: 'number_reused' })
  // The service is asked for its highest number before anything else is sent.
  context.state.startOver(null)
}

/** The server answered, stored nothing, and would answer the same again. A refused key is another matter: the upload waits. */
function storedNothing({ kind, status }: IngestProblem): boolean {
  if (status === null || status < 400 || status >= 500) return false
  return ['record_invalid', 'too_large', 'key_reused', 'denied', 'unknown', 'written_by_other', 'unexpected'].includes(
    kind,
  )
}
