import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { demoShape, type PracticeEventName, vendorShape } from '@bridgework/practice-simulator'
import type { AgentEvent } from '../agent-event.ts'
import { sleep } from '../backoff.ts'
import type { CycleOutcome, Heard } from '../pipeline/cycle.ts'
import { type FedPractice, openFedPractice } from './fed-practice.ts'
import type { FeederConfig } from './feeder-config.ts'
import type { AddedPractice, FeederOrder, PracticeAct } from './feeder-order.ts'

/** Everything that the feeder says, one line of JSON each. `synced` comes once: from then on the server has the whole practice. */
export type FeederEvent =
  | { event: 'practice.opened'; locations: number; eventsSoFar: number }
  | { event: 'synced'; locations: number }
  | { event: 'practice.changed'; eventNumber: number; name: PracticeEventName }
  | { event: 'feeder.stopped' }
  /** Of a practice beside the first one. */
  | { event: 'added.synced'; organizationId: string }
  | { event: 'added.failed'; organizationId: string; because: string }
  /** The server takes the agent's key no more: the practice is left alone until it is added again. */
  | { event: 'added.key_refused'; organizationId: string }
  | { event: 'act.done'; id: number; rows: number }
  | { event: 'act.refused'; id: number; because: 'unknown' | 'not_synced' | 'failed' }
  | Extract<AgentEvent, { event: (typeof agentEvents)[number] }>

/** What of the agent's own events is worth a line here; the rest repeats every few seconds. */
const agentEvents = [
  'cycle.failed',
  'upload.retried',
  'upload.resumed',
  'state.behind',
  'location.written_by_other',
  'location.skipped',
  'removal.held',
  'record.refused',
] as const satisfies readonly AgentEvent['event'][]

const pauseMaxMs = 30_000
/** Enough that something of every dataset changes within a few pauses. */
const eventsPerCycle = 3
/** Practices in memory at one time. The others are on disk until it is their turn, so many vendors take no more memory than a few. */
const openMax = 4
/** After each cycle the process rests so many times as long as it took: with many vendors each changes less often, and the machine is left to others. */
const restShare = 2

type Fed = {
  readonly organizationId: string
  /** The practice of the settings, which the process is started for. */
  readonly isFirst: boolean
  readonly open: () => FedPractice
  readonly folder: string
  opened: FedPractice | null
  heard: Heard
  isSynced: boolean
  failures: number
  dueAtMs: number
  /** Until then nothing is read and sent. */
  silentUntilMs: number
  /** Acts that wait for the practice's turn. */
  readonly acts: { id: number; act: PracticeAct }[]
}

/**
 * Feeds a server with practices through the agent's own pipeline, one cycle at a time, in turns, until the signal says to stop or the server
 * refuses the key of the only one. It may be killed at any line: the practices and the agents' memories are on disk.
 */
export async function runFeeder(
  config: FeederConfig,
  {
    print,
    signal,
    onOrder,
    random = Math.random,
  }: {
    print: (event: FeederEvent) => void
    signal: AbortSignal
    /** Calls the function with each order of the server. */
    onOrder?: (take: (order: FeederOrder) => void) => void
    random?: () => number
  },
): Promise<'stopped' | 'key_refused'> {
  const { serverUrl, stateDir, intervalMs } = config
  const practices = new Map<string, Fed>()
  let waking = new AbortController()

  const add = (practice: AddedPractice, isFirst = false) => {
    const { organizationId, agentId, agentKey, seed } = practice
    const folder = isFirst ? stateDir : join(stateDir, 'vendors', organizationId)
    close(practices.get(organizationId))
    const fed: Fed = {
      organizationId,
      isFirst,
      folder,
      open: () =>
        openFedPractice({
          folder,
          shapeOf: (now) => (isFirst ? demoShape(seed, now) : vendorShape(seed, now)),
          identity: { serverUrl, organizationId, agentId, agentKey },
          report: (event) => {
            if (isFirst && isPrinted(event)) print(event)
          },
          random,
          signal,
        }),
      ...{
        opened: null,
        heard: { contact: null },
        isSynced: false,
        failures: 0,
        dueAtMs: 0,
        silentUntilMs: 0,
        acts: [],
      },
    }
    practices.set(organizationId, fed)
    return fed
  }

  onOrder?.((order) => {
    if (order.order === 'add') add(order.practice)
    if (order.order === 'remove') {
      const removed = practices.get(order.organizationId)
      practices.delete(order.organizationId)
      refuseActs(removed, 'unknown')
      close(removed)
      if (removed) rmSync(removed.folder, { recursive: true, force: true })
    }
    if (order.order === 'act') {
      const fed = practices.get(order.organizationId)
      if (!fed?.isSynced) print({ event: 'act.refused', id: order.id, because: fed ? 'not_synced' : 'unknown' })
      else {
        fed.acts.push(order)
        fed.dueAtMs = 0
      }
    }
    waking.abort()
  })

  try {
    if (config.first) {
      // It throws for what a restart does not mend, so that the process ends.
      const { locations, eventsSoFar } = open(add(config.first, true))
      print({ event: 'practice.opened', locations, eventsSoFar: eventsSoFar() })
    }
    while (!signal.aborted) {
      waking = new AbortController()
      const [next] = [...practices.values()].toSorted((one, other) => one.dueAtMs - other.dueAtMs)
      const waitMs = (next?.dueAtMs ?? Number.POSITIVE_INFINITY) - Date.now()
      if (!next || waitMs > 0) {
        await sleep(Math.min(waitMs, 60_000), AbortSignal.any([signal, waking.signal]))
        continue
      }
      const beganAtMs = performance.now()
      const outcome = await takeTurn(next)
      if (outcome?.result === 'key_refused') {
        if (next.isFirst && practices.size === 1) return 'key_refused'
        if (!next.isFirst) print({ event: 'added.key_refused', organizationId: next.organizationId })
        refuseActs(next, 'failed')
        close(next)
        if (next.isFirst) next.dueAtMs = Number.POSITIVE_INFINITY
        else if (practices.get(next.organizationId) === next) practices.delete(next.organizationId)
      }
      if (practices.size > 1) await sleep((performance.now() - beganAtMs) * restShare, signal)
    }
    print({ event: 'feeder.stopped' })
    return 'stopped'
  } finally {
    for (const fed of practices.values()) close(fed)
  }

  /** What waits for the practice happens, or something else, and is sent. Null: nothing was. */
  async function takeTurn(fed: Fed): Promise<CycleOutcome | null> {
    const acts = fed.acts.splice(0)
    const done: { id: number; rows: number }[] = []
    let outcome: CycleOutcome
    try {
      const practice = open(fed)
      for (const { id, act } of acts) {
        if (act.act === 'silence') fed.silentUntilMs = Date.now() + act.minutes * 60_000
        done.push({ id, rows: act.act === 'silence' ? 0 : practice.apply(act) })
      }
      if (Date.now() < fed.silentUntilMs) {
        fed.dueAtMs = fed.silentUntilMs
        for (const each of done) print({ event: 'act.done', ...each })
        return null
      }
      for (let n = 0; acts.length === 0 && fed.isSynced && fed.failures === 0 && n < eventsPerCycle; n++) {
        const moved = practice.moveOn()
        if (fed.isFirst) print({ event: 'practice.changed', ...moved })
      }
      outcome = await practice.cycle(fed.heard)
    } catch (error) {
      if (fed.isFirst) throw error
      fed.failures += 1
      fed.dueAtMs = Date.now() + pauseMaxMs
      close(fed)
      for (const { id } of acts) print({ event: 'act.refused', id, because: 'failed' })
      const because = error instanceof Error ? error.message : String(error)
      print({ event: 'added.failed', organizationId: fed.organizationId, because })
      return null
    }
    if (outcome.result === 'complete' && !fed.isSynced) {
      fed.isSynced = true
      if (fed.isFirst) print({ event: 'synced', locations: open(fed).locations })
      else print({ event: 'added.synced', organizationId: fed.organizationId })
    }
    fed.failures = outcome.result === 'complete' ? 0 : fed.failures + 1
    const askedMs = outcome.result === 'failed' ? outcome.retryAfterMs : null
    // What was ordered meanwhile is due at once.
    if (fed.acts.length === 0) fed.dueAtMs = Date.now() + pauseMs(intervalMs, fed.failures, askedMs, random)
    for (const each of done) print({ event: 'act.done', ...each })
    return outcome
  }

  /** The practice, open. The one that has waited longest for its turn is closed when there are too many. */
  function open(fed: Fed): FedPractice {
    if (fed.opened) return fed.opened
    const others = [...practices.values()].filter(({ opened, isFirst }) => opened !== null && !isFirst)
    if (others.length >= openMax) close(others.toSorted((one, other) => other.dueAtMs - one.dueAtMs)[0])
    fed.opened = fed.open()
    return fed.opened
  }

  function refuseActs(fed: Fed | undefined, because: 'unknown' | 'failed'): void {
    for (const { id } of fed?.acts.splice(0) ?? []) print({ event: 'act.refused', id, because })
  }
}

function close(fed: Fed | undefined): void {
  if (!fed) return
  fed.opened?.close()
  // To the server the next opening is another process of the agent, which introduces itself.
  Object.assign(fed, { opened: null, heard: { contact: null } })
}

function isPrinted(event: AgentEvent): event is Extract<AgentEvent, { event: (typeof agentEvents)[number] }> {
  return agentEvents.some((name) => name === event.event)
}

/** Twice as long after each failure, up to half a minute and never less than the server asked for. */
function pauseMs(intervalMs: number, failures: number, askedMs: number | null, random: () => number): number {
  if (failures === 0) return intervalMs
  const growing = Math.min(pauseMaxMs, intervalMs * 2 ** failures)
  return Math.max(askedMs ?? 0, growing * (0.5 + random() / 2))
}
