import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { limits } from '@bridgework/contract'
import type { DatasetName } from '../connector.ts'
import { IngestProblem } from '../ingest-client.ts'
import { type CycleContext, retrying, type Target } from './context.ts'
import { askFirst } from './heartbeat.ts'

/** A finished read of one dataset at one location. */
export type FinishedRead = {
  /** Records that the agent knows and the source has no more. */
  readonly missing: ReadonlySet<string>
  /** Keys that the source has and the agent has not sent, such as refused ones; asked for only when the list is sent. */
  readonly unsent: () => Iterable<string>
  readonly beganAtUpload: number
  readonly complete: boolean
}

/** One line of a complete list; `hash` is missing where the agent does not know what was sent. */
type Entry = { readonly source_id: string; readonly hash?: string }

/**
 * Tells the service which keys the source still has, so that it hides what is gone. The agent never names a record as
 * removed: it sends the whole list of a finished read, and a mass disappearance waits for a person at the service. That
 * is an answer like any other; the list is sent again at each cycle until someone decided, or the rows are back. What is
 * held is forgotten here, so that a row which comes back is sent again: someone may have confirmed meanwhile.
 *
 * The service answers each slice of the list with what it has not as it was sent; that is read and sent again in this
 * cycle, so a copy that lost or confused something heals. Returns whether a list was sent, and whether something is held since this one.
 */
export async function reconcile(
  context: CycleContext,
  target: Target,
  dataset: DatasetName,
  { missing, unsent, beganAtUpload, complete }: FinishedRead,
): Promise<{ isSent: boolean; isNewlyHeld: boolean }> {
  const { state } = context
  const { locationId } = target
  const { isHeld } = state.locationProgress(locationId, dataset)
  // After a complete read the list is sent though nothing seems missing: a lost state knows of no removal.
  if (missing.size === 0 && !complete && !isHeld) return { isSent: false, isNewlyHeld: false }

  await askFirst(context)
  const listId = await retrying(context, () => context.client.beginList(locationId, dataset, beganAtUpload))
  const wrong: string[] = []
  let after: string | null = null
  for (const slice of slicesOf(merged(state.eachRecord(locationId, dataset), missing, unsent()))) {
    const body = await packSlice(after, slice)
    const answer = await retrying(context, () => context.client.sendListSlice(locationId, dataset, listId, body))
    wrong.push(...[...answer.unknown, ...answer.different].filter((key) => wasSent(context, target, dataset, key)))
    after = slice.at(-1)?.source_id ?? after
  }
  if (wrong.length > 0) {
    state.mistrust(locationId, dataset, wrong)
    context.report({ event: 'records.mistrusted', locationId, dataset, records: wrong.length })
  }
  try {
    const { hidden } = await retrying(context, () => context.client.finishList(locationId, dataset, listId))
    state.forgetRecords(locationId, dataset, missing)
    if (isHeld) state.markHeld(locationId, dataset, false)
    if (hidden > 0) context.report({ event: 'records.hidden', locationId, dataset, hidden })
    return { isSent: true, isNewlyHeld: false }
  } catch (error) {
    if (!(error instanceof IngestProblem) || error.kind !== 'removal_held') throw error
    context.totals.held += 1
    state.markHeld(locationId, dataset, true)
    state.forgetRecords(locationId, dataset, missing)
    context.report({
      event: 'removal.held',
      locationId,
      dataset,
      missing: error.missing ?? missing.size,
      errors: error.errors,
    })
    return { isSent: true, isNewlyHeld: !isHeld }
  }
}

/** Whether the service should have it: a record that it refused is not there, and is no surprise. */
function wasSent({ state }: CycleContext, { locationId }: Target, dataset: DatasetName, key: string): boolean {
  return state.hashOf(locationId, dataset, key) !== null && !state.refusedRecords(locationId, dataset).has(key)
}

/** What was sent and is not missing, with what was never sent, in the order of the keys' bytes. */
function* merged(
  records: Iterable<{ sourceId: string; listHash: string }>,
  missing: ReadonlySet<string>,
  unsent: Iterable<string>,
): Generator<Entry> {
  const others = [...unsent].filter((key) => !key.includes('\u0000')).sort(byBytes)
  let next = 0
  for (const { sourceId, listHash } of records) {
    for (let other = others[next]; other !== undefined && byBytes(other, sourceId) <= 0; other = others[next]) {
      if (other !== sourceId) yield { source_id: other }
      next += 1
    }
    if (missing.has(sourceId) || sourceId.includes('\u0000')) continue
    yield listHash === '' ? { source_id: sourceId } : { source_id: sourceId, hash: listHash }
  }
  for (const other of others.slice(next)) yield { source_id: other }
}

function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

function* slicesOf(entries: Iterable<Entry>): Generator<Entry[]> {
  let slice: Entry[] = []
  for (const entry of entries) {
    slice.push(entry)
    if (slice.length < limits.sliceKeysMax) continue
    yield slice
    slice = []
  }
  if (slice.length > 0) yield slice
}

async function packSlice(after: string | null, slice: readonly Entry[]): Promise<Uint8Array> {
  const lines = [{ after }, ...slice].map((line) => `${JSON.stringify(line)}\n`)
  return await pipeline(lines, createGzip(), buffer)
}
