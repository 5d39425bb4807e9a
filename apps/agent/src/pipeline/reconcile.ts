import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { DatasetName } from '../connector.ts'
import { IngestProblem } from '../ingest-client.ts'
import { type CycleContext, retrying, type Target } from './context.ts'

/** A finished read of one dataset at one location. */
export type FinishedRead = {
  /** Records that the agent knows and the source has no more. */
  readonly missing: ReadonlySet<string>
  /** Every key that the source has; asked for only when the list is sent. */
  readonly present: () => Iterable<string>
  readonly beganAtUpload: number
  readonly complete: boolean
}

/**
 * Tells the server which keys the source still has, so that it hides what is gone. The agent never names a record as
 * removed: it sends the whole list of a finished read, and a mass disappearance waits for a person at the server. That
 * is an answer like any other; the list is sent again at each cycle until someone decided, or the rows are back. What is
 * held is forgotten here, so that a row which comes back is sent again: someone may have confirmed meanwhile.
 */
export async function reconcile(
  context: CycleContext,
  target: Target,
  dataset: DatasetName,
  { missing, present, beganAtUpload, complete }: FinishedRead,
): Promise<void> {
  const { isHeld } = context.state.locationProgress(target.locationId, dataset)
  // After a complete read the list is sent though nothing seems missing: a lost state knows of no removal.
  if (missing.size === 0 && !complete && !isHeld) return

  const body = await pipeline(listOf(present(), beganAtUpload), createGzip(), buffer)
  try {
    const { hidden } = await retrying(context, () => context.client.reconcile(target.locationId, dataset, body))
    context.state.forgetRecords(target.locationId, dataset, missing)
    if (isHeld) context.state.markHeld(target.locationId, dataset, false)
    if (hidden > 0) context.report({ event: 'records.hidden', locationId: target.locationId, dataset, hidden })
  } catch (error) {
    if (!(error instanceof IngestProblem) || error.kind !== 'removal_held') throw error
    context.totals.held += 1
    context.state.markHeld(target.locationId, dataset, true)
    context.state.forgetRecords(target.locationId, dataset, missing)
    context.report({
      event: 'removal.held',
      locationId: target.locationId,
      dataset,
      missing: error.missing ?? missing.size,
      errors: error.errors,
    })
  }
}

/** The list as JSON, in pieces: a ledger has a million keys, and they are never all in memory. */
function* listOf(keys: Iterable<string>, beganAtUpload: number): Generator<string> {
  let piece = `{"began_at_upload":${beganAtUpload},"source_ids":[`
  let separator = ''
  for (const key of keys) {
    if (key.includes('\u0000')) continue
    piece += separator + JSON.stringify(key)
    separator = ','
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  yield `${piece}]}`
}

const pieceLength = 64 * 1024
