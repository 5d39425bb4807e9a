import {
  filePlacesSince,
  identifierPattern,
  mappedColumnPattern,
  mappedFilePattern,
  type ReasonCode,
  type ReportedProblem,
} from '@bridgework/contract/ingest'
import type { DatasetName, FilePlace, SourcePlace } from '../connector.ts'
import { IngestProblem, type IngestProblemKind } from '../ingest-client.ts'
import { type CycleContext, retrying, skipKey, type Target, type UnconfirmedRead } from './context.ts'

/** How long a cycle works before it says how far it is. */
const everyMs = 15_000
/** As many as a heartbeat takes. */
const problemsMax = 1000

export type BeatState = 'working' | 'idle' | 'failing'

/**
 * Says how the agent is, confirms what was read since the last heartbeat, and takes note of what the service says. `isEnd`: all that is wrong is
 * known now. A dataset is confirmed only when everything that was read of it is stored by the service, and nothing of it is to be read again.
 */
export async function beat(context: CycleContext, state: BeatState, { isEnd = false } = {}): Promise<void> {
  await retrying(context, () => beatOnce(context, state, isEnd))
}

async function beatOnce(context: CycleContext, state: BeatState, isEnd: boolean): Promise<void> {
  const { client, contact } = context
  const reads = confirmable(context)
  const epoch = context.state.epoch()
  const freeBytes = context.freeBytes?.() ?? null
  const answer = await client.heartbeat(
    {
      state,
      sent_at: instant(context.nowMs()),
      ...(contact && { answered: { server_time: contact.serverTime, at: instant(contact.atMs) } }),
      ...(freeBytes !== null && { disk_free_bytes: freeBytes }),
      reading: isEnd ? null : context.reading,
      ...(isEnd && { problems: problemsFor(context) }),
      ...(epoch !== null && reads.length > 0 && { confirmed: { epoch, reads: together(reads) } }),
    },
    context.state.acknowledged(),
    context.state.process.start(),
  )
  context.state.process.taken()
  const { notConfirmed, ...identity } = answer
  context.contact = { ...identity, atMs: context.nowMs() }
  for (const { locationId, dataset, complete } of reads) {
    context.reads.delete(skipKey(locationId, dataset))
    if (notConfirmed.includes(locationId)) context.hasUnconfirmed = true
    else if (complete) context.state.markComplete(locationId, dataset)
  }
}

/** The last heartbeat of a cycle that failed: it says why, where it can. What fails here is no news. */
export async function beatAtFailure(
  context: CycleContext,
  { state, isEnd }: { state: BeatState; isEnd: boolean },
): Promise<void> {
  await quietly(() => beatOnce(context, state, isEnd))
}

/** Says how far a long cycle is. */
export async function beatInBetween(context: CycleContext): Promise<void> {
  const lastMs = Math.max(context.startedAtMs, context.contact?.atMs ?? 0)
  if (context.nowMs() - lastMs < everyMs) return
  if (!context.isAsked) return await askFirst(context)
  await quietly(() => beatOnce(context, 'working', false))
}

async function quietly(send: () => Promise<void>): Promise<void> {
  try {
    await send()
  } catch (error) {
    if (!(error instanceof IngestProblem)) throw error
  }
}

/** Thrown when the service says something else than in the last cycle: this one begins again with that. */
export class BeginAgain extends Error {}

/**
 * Before anything is sent: a cycle that began with what the service said at the end of the last one asks whether that still holds. Meanwhile the
 * service may have been restored, another agent may have written, a person may have taken back the grant of notes.
 */
export async function askFirst(context: CycleContext): Promise<void> {
  if (context.isAsked) return
  const before = decided(context)
  await beat(context, 'working')
  context.isAsked = true
  if (decided(context) !== before) throw new BeginAgain()
}

function decided({ contact }: CycleContext): string {
  if (contact === null) return ''
  const { epoch, zones, notes, writtenByOthers, contract, locations } = contact
  return JSON.stringify([
    epoch,
    zones.organization,
    [...zones.locations],
    notes,
    writtenByOthers.map(({ sourceId }) => sourceId),
    contract,
    [...locations],
  ])
}

function confirmable({ reads, state }: CycleContext): UnconfirmedRead[] {
  return [...reads.values()].filter(({ dataset }) => state.rechecks(dataset).length === 0)
}

/** Reads of one dataset that are alike but for their locations are one. */
function together(reads: readonly UnconfirmedRead[]) {
  const alike = Map.groupBy(reads, ({ dataset, readAt, complete }) => `${dataset} ${readAt.getTime()} ${complete}`)
  return [...alike.values()].flatMap((own) =>
    own.slice(0, 1).map(({ dataset, readAt, complete }) => ({
      dataset,
      read_at: instant(readAt.getTime()),
      complete,
      location_ids: own.map(({ locationId }) => locationId),
    })),
  )
}

/** The last moment that an RFC 3339 date-time can name. */
const instantMaxMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** A clock may stand anywhere: a moment outside of 1970 to 9999 is sent as the first or the last of these. */
function instant(ms: number): string {
  return new Date(Math.min(Math.max(ms, 0), instantMaxMs)).toISOString()
}

/** Those that the service takes, as it takes them: one that does not know the places of export files gets none. */
function problemsFor({ problems, contract }: CycleContext): ReportedProblem[] {
  const first = problems.slice(0, problemsMax)
  return contract >= filePlacesSince ? first : first.map(({ file: _, ...problem }) => problem)
}

/** Where a problem is: of a dataset, of a location, of a table or of an export file. */
type Where = {
  dataset?: DatasetName
  locationId?: string
  place?: SourcePlace | null
  filePlace?: FilePlace | null
}

/** Takes note of a reason for the end of the cycle. A name that has another form than the contract admits stays in the office. */
export function noteProblem(
  { problems }: CycleContext,
  code: ReasonCode,
  { dataset, locationId, place, filePlace }: Where = {},
): void {
  const fitting = (pattern: string, name: string | null | undefined) =>
    new RegExp(pattern).test(name ?? '') ? (name ?? undefined) : undefined
  const [table, column] = [place?.table, place?.column].map((name) => fitting(identifierPattern, name))
  const file = fitting(mappedFilePattern, filePlace?.file)
  const fileColumn = fitting(mappedColumnPattern, filePlace?.column)
  problems.push({
    code,
    ...(dataset !== undefined && { dataset }),
    ...(locationId !== undefined && { location_id: locationId }),
    ...(table !== undefined && { table }),
    ...(table !== undefined && column !== undefined && { column }),
    ...(file !== undefined && {
      file: {
        name: file,
        ...(filePlace?.line && { line: filePlace.line }),
        ...(fileColumn !== undefined && { column: fileColumn }),
      },
    }),
  } satisfies ReportedProblem)
}

/** The reason that an answer of the service is, or of what stands in between. */
export function reasonOf(kind: IngestProblemKind): ReasonCode {
  if (kind === 'written_by_other') return kind
  return ['busy', 'failing', 'in_progress', 'intercepted', 'unreachable'].includes(kind)
    ? 'service_busy'
    : 'service_refused'
}

/** The service takes nothing of this dataset at this location from this agent; the others go on. */
export function skip(
  context: CycleContext,
  { locationId }: Target,
  dataset: DatasetName,
  { kind, errors }: IngestProblem,
): void {
  context.skipped.add(skipKey(locationId, dataset))
  context.report({ event: 'location.skipped', locationId, dataset, because: kind, errors })
  noteProblem(context, reasonOf(kind), { dataset, locationId })
}
