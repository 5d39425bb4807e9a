import { hash } from 'node:crypto'
import { contractNumber, getDataset, numbersOf } from '@bridgework/contract'
import { isUploadNumber } from '@bridgework/contract/ingest'
import type { DatasetFailure } from '../agent-event.ts'
import { type DatasetName, isPassing, type SourceCycle, SourceProblem, timeZoneUnknown } from '../connector.ts'
import { IngestProblem, type IngestProblemKind, type NotesWanted, type WrittenByOther } from '../ingest-client.ts'
import type { AgentDeps, Contact, CycleContext, Target } from './context.ts'
import { retrying, skipKey } from './context.ts'
import { syncDataset, syncRechecks } from './dataset.ts'
import { askFirst, BeginAgain, beat, beatAtFailure, noteProblem, reasonOf } from './heartbeat.ts'
import { notesOf } from './notes.ts'
import { Stopped } from './retry.ts'
import { resumeUpload } from './upload.ts'
import { finishRestore, requireNotOlder } from './went-back.ts'

/** Tries of one cycle, all requests together, and how long it may wait in all. Then the cycle ends, and the next one begins anew. */
const retriesMax = 12
const waitMaxMs = 10 * 60 * 1000

/** A record that is read again may let go of another in turn. What is left over after this many rounds waits for the next cycle. */
const recheckRoundsMax = 3

export type CycleOutcome =
  | { readonly result: 'complete'; readonly uploaded: number; readonly refused: number; readonly held: number }
  /** Some datasets could not be read; the others were. Waiting longer helps neither. */
  | { readonly result: 'incomplete'; readonly failures: readonly DatasetFailure[] }
  /** Nothing is wrong with the agent: the source is being updated. */
  | { readonly result: 'put_off' }
  | { readonly result: 'failed'; readonly retryAfterMs: number | null }
  /** The server does not take this agent's key. It is asked again after an hour: a person may take a refusal back. */
  | { readonly result: 'key_refused' }
  | { readonly result: 'stopped' }

/** What the service said at the end of a cycle that succeeded: the next one begins with it, and asks again before it sends anything. */
export type Heard = { contact: Contact | null }

/**
 * One pass: finish the upload that was under way, send the locations, then each dataset. Reports what it does; throws
 * only for a bug. It may be killed at any line: the next cycle goes on from what the state says.
 */
export async function runCycle(
  deps: AgentDeps,
  { fully = false, heard = { contact: null } }: { fully?: boolean; heard?: Heard } = {},
): Promise<CycleOutcome> {
  const known = heard.contact
  heard.contact = null
  try {
    const { outcome, contact } = await attemptCycle(deps, { fully, known, isAsked: false, isFirst: known === null })
    heard.contact = outcome.result === 'complete' || outcome.result === 'incomplete' ? contact : null
    return outcome
  } catch (error) {
    return outcomeOf(deps, error)
  }
}

/** `known`: what the service has said; `isAsked`: in this cycle. `isFirst`: no cycle has succeeded since the state was opened. */
type Attempt = { fully: boolean; known: Contact | null; isAsked: boolean; isFirst: boolean; isSecond?: true }

async function attemptCycle(
  deps: AgentDeps,
  attempt: Attempt,
): Promise<{ outcome: CycleOutcome; contact: Contact | null }> {
  const { fully } = attempt
  const startedAtMs = deps.nowMs()
  const context: CycleContext = {
    ...deps,
    budget: { attemptsLeft: retriesMax, deadlineMs: startedAtMs + waitMaxMs },
    totals: { uploaded: 0, refused: 0, refusedNow: 0, held: 0, hasPaused: false },
    skipped: new Set(),
    startedAtMs,
    contact: attempt.known,
    isAsked: attempt.isAsked,
    reads: new Map(),
    hasUnconfirmed: false,
    reading: null,
    problems: [],
    failures: [],
    hasLostLocation: false,
    failure: null,
    notes: notesOf([], false),
    contract: contractNumber,
  }
  const unread = new Set<DatasetName>()
  deps.report({ event: 'cycle.began' })
  try {
    const contact = await contactOf(context)
    const { zones, notes: wanted, writtenByOthers, contract } = contact
    compareState(context, contact)
    context.contract = contract
    context.notes = notesOf(wanted, deps.sendNotes !== false)
    await resumeUpload(context)
    if (attempt.isFirst && deps.state.setAside !== null) noteProblem(context, 'state_set_aside')
    const source = await deps.connector.beginCycle(zones, context.notes.read)
    try {
      const advice = source.advice?.() ?? null
      if (advice !== null) context.report({ event: 'source.advice', what: advice })
      const isRestored = await requireNotOlder(source, deps.state.source)
      const targets = ownTargets(context, await sendLocations(context, source), writtenByOthers)
      noteKeptNotes(context, wanted)
      const isKnown = (dataset: DatasetName) => numbersOf(getDataset(dataset), contract).length > 0
      const datasets = targets.length === 0 ? [] : deps.connector.datasets.filter(isKnown)
      const finishComparison = datasets.length === 0 ? undefined : await source.findSilentChanges?.(deps.state.digests)
      for (const dataset of datasets) {
        const isRead =
          (await canBeRead(context, source, dataset)) &&
          (await orReport(context, dataset, () => syncDataset(context, source, dataset, targets, fully || isRestored)))
        if (isRead) advise(context, source, dataset)
        else unread.add(dataset)
      }
      if (isRestored && unread.size === 0 && context.skipped.size === 0) finishRestore(deps.state.source)
      for (let round = 0; round < recheckRoundsMax; round++) {
        const letGo = datasets.filter((dataset) => !unread.has(dataset) && deps.state.rechecks(dataset).length > 0)
        for (const dataset of letGo) {
          if (!(await orReport(context, dataset, () => syncRechecks(context, source, dataset, targets))))
            unread.add(dataset)
        }
      }
      const skipped = datasets.filter((dataset) => [...context.skipped].some((key) => key.endsWith(`/${dataset}`)))
      finishComparison?.(new Set([...unread, ...skipped]))
    } finally {
      await source.end()
    }
  } catch (error) {
    if (!attempt.isSecond) {
      // The state was behind the server and has just been emptied: the same cycle again, once, sends everything anew.
      if (error instanceof IngestProblem && error.kind === 'key_reused')
        return await attemptCycle(deps, { ...attempt, known: null, isAsked: false, isSecond: true })
      if (error instanceof BeginAgain)
        return await attemptCycle(deps, { ...attempt, known: context.contact, isAsked: true, isSecond: true })
    }
    await sayWhy(context, error)
    throw error
  }
  const isWhole = context.skipped.size === 0 && context.failures.length === 0
  await beat(context, isWhole ? 'idle' : 'failing', { isEnd: true })
  if (context.failure) throw context.failure
  const { uploaded, refused, held } = context.totals
  deps.report({ event: 'cycle.finished', durationMs: deps.nowMs() - startedAtMs, uploaded, refused })
  const { contact, failures } = context
  if (context.skipped.size > 0 || context.hasUnconfirmed)
    return { outcome: { result: 'failed', retryAfterMs: null }, contact }
  return {
    outcome: failures.length > 0 ? { result: 'incomplete', failures } : { result: 'complete', uploaded, refused, held },
    contact,
  }
}

/** What the cycle begins with. An upload that waits is sent only after the service was asked. */
async function contactOf(context: CycleContext): Promise<Contact> {
  if (context.contact === null || (!context.isAsked && context.state.pendingUpload() !== null)) {
    await beat(context, 'working')
    context.isAsked = true
  }
  if (context.contact === null) throw new Error('the service has not answered')
  return context.contact
}

/** The service refused something, and takes a heartbeat all the same: what was finished before is confirmed by it. */
function answersStill({ status, kind }: IngestProblem): boolean {
  return status !== null && kind !== 'key_refused' && kind !== 'copied' && kind !== 'restore_unmarked'
}

/** Says to the service why a cycle failed, unless the service itself, or the way to it, is what failed. */
async function sayWhy(context: CycleContext, error: unknown): Promise<void> {
  if (error instanceof SourceProblem) noteProblem(context, error.kind, error)
  else if (context.state.problemOf(error)) noteProblem(context, 'state_unusable')
  else if (!(error instanceof IngestProblem) || !answersStill(error)) return
  const isEnd = !(error instanceof IngestProblem)
  await beatAtFailure(context, {
    state: error instanceof SourceProblem && isPassing(error) ? 'idle' : 'failing',
    isEnd,
  })
}

/** The office keeps its notes, though the practice granted them. */
function noteKeptNotes(context: CycleContext, wanted: readonly NotesWanted[]): void {
  if (context.sendNotes !== false) return
  const names = new Set(wanted.map(({ dataset }) => dataset))
  for (const dataset of context.connector.datasets)
    if (names.has(dataset)) noteProblem(context, 'notes_not_sent', { dataset })
}

/** A longer wait than this is not asked for one dataset's sake. */
const datasetWaitMaxMs = 60_000

/**
 * Whether a dataset was synced. When the server refuses one dataset, it may take the others: that is reported, they are read all the same,
 * and the cycle fails after them. When a table of the source cannot be read, nothing of what was read of its datasets counts as all there is.
 */
async function orReport(context: CycleContext, dataset: DatasetName, sync: () => Promise<void>): Promise<boolean> {
  try {
    await sync()
    return true
  } catch (error) {
    if (error instanceof SourceProblem && error.place !== null) reportUnreadable(context, dataset, error)
    else if (error instanceof IngestProblem && concernsDataset(error)) {
      const { kind, errors } = error
      fail(context, { dataset, because: kind, table: null, column: null, what: errors, todo: todoOf(error) })
      noteProblem(context, reasonOf(kind), { dataset })
      context.failure ??= error
    } else throw error
    return false
  }
}

function reportUnreadable(context: CycleContext, dataset: DatasetName, problem: SourceProblem): void {
  const { kind, place, filePlace, message, todo } = problem
  const { table, column } = place ?? { table: null, column: null }
  fail(context, { dataset, because: kind, table, column, what: message, todo })
  noteProblem(context, kind, { dataset, place, filePlace })
}

function fail(context: CycleContext, failure: DatasetFailure): void {
  context.failures.push(failure)
  context.report({ event: 'dataset.failed', ...failure })
}

function concernsDataset({ kind, retryAfterMs }: IngestProblem): boolean {
  if ((retryAfterMs ?? 0) > datasetWaitMaxMs) return false
  return [
    'busy',
    'failing',
    'in_progress',
    'intercepted',
    'too_large',
    'record_invalid',
    'list_unknown',
    'unexpected',
  ].includes(kind)
}

/**
 * Before anything is read or sent: is this state the one that the service knows? One that was restored from a backup, or a
 * service whose database was, ends in a comparison of everything, and so does a number that the service would not take. An
 * agent whose source cannot be read shows by this that it is there.
 */
function compareState({ state, report }: CycleContext, { highestNumber, epoch }: Contact): void {
  const known = state.epoch()
  if (highestNumber !== null && highestNumber >= state.nextUploadNumber()) {
    report({ event: 'state.behind', because: 'state_restored' })
    state.startOver(highestNumber)
  } else if (known !== null && known !== epoch) {
    report({ event: 'state.behind', because: 'service_restored' })
    state.startOver(highestNumber)
  } else if (!isUploadNumber(state.nextUploadNumber(), highestNumber)) {
    report({ event: 'state.behind', because: 'number_too_high' })
    state.startOver(highestNumber)
  }
  // Only a service that accepted such a number before it checked numbers has one.
  if (!isUploadNumber(state.nextUploadNumber(), highestNumber)) {
    const what = `The service has an upload with the number ${highestNumber}, the highest possible one.`
    throw new IngestProblem('unexpected', `${what} Enroll this agent again: bridgework-agent enroll --replace`)
  }
  if (known !== epoch) state.keepEpoch(epoch)
}

/** Whether the source can give this dataset now; says why not. */
async function canBeRead(context: CycleContext, source: SourceCycle, dataset: DatasetName): Promise<boolean> {
  const { cursor } = context.state.datasetProgress(dataset)
  const problem = (await source.problemOf?.(dataset, cursor)) ?? null
  if (problem === null) return true
  const { kind, place, filePlace, message, todo } = problem
  if (isPassing(problem)) {
    context.report({ event: 'dataset.put_off', dataset, because: kind, what: message, todo })
    noteProblem(context, kind, { dataset, place, filePlace })
  } else reportUnreadable(context, dataset, problem)
  return false
}

/** Says what was left out of a dataset that was read. */
function advise(context: CycleContext, source: SourceCycle, dataset: DatasetName): void {
  const what = source.adviceOn?.(dataset) ?? null
  if (what !== null) context.report({ event: 'dataset.advice', dataset, what })
  const skipped = source.skipped?.(dataset) ?? null
  if (skipped !== null) noteProblem(context, 'lines_skipped', { dataset, ...skipped })
}

/** Locations that did not change are sent again after this time: what the service has of them may have been lost. */
const locationsAgainMs = 60 * 60 * 1000

/**
 * Sends every location when one of them changed, or what the service says. The list is complete, so the server closes one that is gone from the
 * source; what the state says of it is forgotten, because its records may be hidden until it is back. Gives the ids that are in force.
 */
async function sendLocations(context: CycleContext, source: SourceCycle): Promise<Target[]> {
  const known = new Set(context.state.sentLocations().map(({ source_id }) => source_id))
  const present = await source.readLocations(known)
  await source.confirm()
  const datasets = new Map(context.connector.datasets.map((each) => [each, source.notProvided?.(each) ?? []]))
  const { locations, epoch, contract, writtenByOthers } = await contactOf(context)
  const others = writtenByOthers.map(({ sourceId }) => sourceId)
  const key = hash('sha256', JSON.stringify([present, [...datasets], epoch, contract, others]))
  const sent = context.state.locationsSent()
  const isSent =
    sent?.key === key &&
    Math.abs(context.nowMs() - sent.atMs) < locationsAgainMs &&
    present.every(({ source_id }) => locations.has(source_id))
  let ids = locations
  if (!isSent) {
    await askFirst(context)
    ids = await retrying(context, () => context.client.sendLocations(present, datasets))
    const sourceIds = new Set(present.map((location) => location.source_id))
    for (const { source_id } of context.state.sentLocations()) {
      if (sourceIds.has(source_id)) continue
      context.state.forgetLocation(source_id, ids.get(source_id))
      context.hasLostLocation = true
    }
    context.state.keepSentLocations(present)
    context.state.keepLocationsSent(key, context.nowMs())
    context.report({ event: 'locations.sent', locations: present.length })
  }
  // They were sent all the same, so that a person can give each a time zone.
  if (present.some((location) => location.time_zone === null)) throw timeZoneUnknown(present)
  return present.map(({ source_id }) => {
    const locationId = ids.get(source_id)
    if (locationId === undefined)
      throw new IngestProblem('unexpected', 'The answer of the server does not name every location.')
    return { sourceId: source_id, locationId }
  })
}

/** Without the locations at which another agent writes: those are not even read, and the cycle fails after the rest. */
function ownTargets(
  context: CycleContext,
  targets: readonly Target[],
  writtenByOthers: readonly WrittenByOther[],
): Target[] {
  const { connector, report, skipped } = context
  const others = new Map(writtenByOthers.map(({ sourceId, what }) => [sourceId, what]))
  return targets.filter(({ sourceId, locationId }) => {
    const what = others.get(sourceId)
    if (what === undefined) return true
    report({ event: 'location.written_by_other', what, todo: todoFor('written_by_other') })
    noteProblem(context, 'written_by_other', { locationId })
    for (const dataset of connector.datasets) skipped.add(skipKey(locationId, dataset))
    return false
  })
}

function outcomeOf(deps: AgentDeps, error: unknown): CycleOutcome {
  const problem = deps.state.problemOf(error)
  if (problem) {
    deps.report({ event: 'cycle.failed', because: 'state_unusable', what: problem.message, todo: problem.todo })
    // Only opening it anew mends it: the program ends, and is started again.
    if (problem.isDamaged) throw problem
    return { result: 'failed', retryAfterMs: null }
  }
  if (error instanceof Stopped) return { result: 'stopped' }
  if (error instanceof SourceProblem) {
    const told = { because: error.kind, what: error.message, todo: error.todo }
    if (isPassing(error)) deps.report({ event: 'cycle.put_off', ...told })
    else deps.report({ event: 'cycle.failed', ...told })
    return isPassing(error) ? { result: 'put_off' } : { result: 'failed', retryAfterMs: null }
  }
  if (error instanceof IngestProblem) {
    deps.report({ event: 'cycle.failed', because: error.kind, what: error.errors, todo: todoOf(error) })
    return error.kind === 'key_refused'
      ? { result: 'key_refused' }
      : { result: 'failed', retryAfterMs: error.retryAfterMs }
  }
  throw error
}

/** What a person can do about a request that failed. */
export function todoOf({ todo, kind }: IngestProblem): string {
  return todo ?? todoFor(kind)
}

/** What a person can do about an answer of this kind. */
export function todoFor(kind: IngestProblemKind): string {
  switch (kind) {
    case 'unreachable':
    case 'redirected':
    case 'intercepted':
      return 'Check this computer’s internet connection and the server address.'
    case 'key_refused':
      return 'The agent’s key was revoked or is wrong. Ask for a new enrolment code and run "bridgework-agent enroll --replace". Until then the agent asks again every hour.'
    case 'denied':
    case 'unknown':
      return 'The server no longer knows this organization or location for this agent. Ask for a new enrolment code and run "bridgework-agent enroll --replace".'
    case 'written_by_other':
      return 'Only one agent may write at a location. If it should be this one, let it take over in the portal, on the page of the location. If not, stop this agent.'
    case 'copied':
      return 'If not, stop this agent and remove its folder.'
    case 'busy':
    case 'failing':
    case 'in_progress':
      return 'The server is busy or under maintenance. The agent tries again by itself.'
    case 'restore_unmarked':
      return 'Tell the people who operate the server. The agent goes on by itself when they have run the command, and sends again what is missing.'
    case 'too_large':
    case 'record_invalid':
    case 'key_reused':
    case 'removal_held':
    case 'list_unknown':
    case 'unexpected':
      return 'Update the agent. If the error persists, send this line to support.'
  }
}
