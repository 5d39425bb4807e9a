import { type LiveTopic, liveTopics } from '@bridgework/contract/portal'
import type { Pool } from 'pg'
import { Problem } from '../../platform/errors/problem.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { createLoop } from '../../platform/loop/loop.ts'
import { kindOf } from '../audit/in-words.ts'
import { readHorizon } from '../changes/horizon.ts'
import { type Tenant, tenantIdOf } from '../membership/tenant.ts'
import { findSeen, type Known, readKnown, type Seen, type Watched } from './live-news.ts'

/** A page that is open. `topics`: those that the person may hear of. */
export type Viewer = {
  readonly sessionId: string
  readonly userId: string
  /** When the session is over, however much it is used. */
  readonly endsAt: Date
  /** Whose page it is; null: of no tenant. */
  readonly tenant: Tenant | null
  readonly topics: ReadonlySet<LiveTopic>
  /** What changed; nothing: a sign of life. */
  readonly tell: (topics: readonly LiveTopic[]) => void
  /** Called once, when the viewer is told no more: it may come again. */
  readonly end: () => void
}

export type LiveWatch = {
  /** Tells a viewer of changes until the function that it returns is called. Throws `overloaded` when there are too many. */
  watch: (viewer: Viewer) => () => void
  /** Ends every viewer. */
  stop: () => Promise<void>
}

/** How often a process looks, for all its viewers. */
export const lookEveryMs = 500
/** Tabs of one person, a few of them forgotten by a browser that is gone. */
export const viewersOfSessionMax = 8
export const viewersMax = 2_000
/** A connection on which nothing moves for a minute is closed. */
const signOfLifeMs = 20_000
/** Who may hear of what is asked anew. */
const viewerMs = 10 * 60_000
/** Beside the horizon: between the moment when a row gets its id and that when its transaction is seen to write. */
const overlapMicros = 1_000_000
/** What changes with every upload or request is told at most so often. */
const gapMs = 1_500
const frequent: ReadonlySet<LiveTopic> = new Set(['agents', 'data', 'reads', 'requests'])

/** What of a look is a state of something that stays, and so no news when it is seen for the first time. */
const states: ReadonlySet<string> = new Set<LiveTopic>(['agents', 'removals', 'requests'])

type Entry = {
  viewer: Viewer
  sinceMs: number
  heardMs: number
  waiting: Set<LiveTopic>
  toldMs: Map<LiveTopic, number>
}

/**
 * Tells open pages what changed, from committed rows: nothing is written for it, and what another process did is seen alike. One look of the process
 * for all its viewers, and none while nobody watches. A viewer ends with its session, when the members of its tenant or their rights change, and after
 * ten minutes: coming again, it passes all checks of a request.
 */
export function createLiveWatch({ pool, now, log }: { pool: Pool; now: () => Date; log: Log }): LiveWatch {
  const entries = new Set<Entry>()
  let before: ReadonlySet<string> = new Set()
  let beforeOf: ReadonlySet<string> = new Set()
  let known: Known[] = []
  let hasStarted = false
  let isStopping = false

  const leave = (entry: Entry) => {
    if (!entries.delete(entry)) return
    entry.viewer.end()
  }

  const look = async () => {
    const all = [...entries]
    if (all.length === 0) {
      known = []
      return
    }
    const horizon = await readHorizon(pool)
    const next = await readKnown(pool)
    // Where the last look began that was over before every transaction that may still commit.
    const floor =
      known.findLast(({ clock }) => clock < horizon.stamp - overlapMicros) ?? known[0] ?? somewhatBefore(next)
    const seen = await findSeen(pool, watchedBy(all), floor)
    known = [...known.filter(({ clock }) => clock >= floor.clock), next]
    const news = newsOf(seen)
    const sessions = new Set(seen.filter(({ kind }) => kind === 'session').map(({ of }) => of))
    const nowMs = performance.now()
    for (const entry of all) {
      if (entries.has(entry)) serve(entry, { news, sessions, nowMs })
    }
  }

  /** The topics of rows that the look before did not have, by whom they concern. */
  const newsOf = (seen: readonly Seen[]): ReadonlyMap<string, ReadonlySet<LiveTopic>> => {
    const news = new Map<string, Set<LiveTopic>>()
    const add = (of: string, topic: LiveTopic) => news.set(of, (news.get(of) ?? new Set()).add(topic))
    for (const row of seen) {
      const topic = topicOf(row.kind)
      if (topic === null || before.has(keyOf(row))) continue
      if (states.has(row.kind) && !beforeOf.has(row.of)) continue
      add(row.of, topic)
      // The operator's pages show every tenant.
      if (row.kind.includes('.') && topic !== 'account') add('operator', topic)
    }
    before = new Set(seen.map(keyOf))
    beforeOf = new Set(seen.map(({ of }) => of))
    return news
  }

  const serve = (
    entry: Entry,
    look: { news: ReadonlyMap<string, ReadonlySet<LiveTopic>>; sessions: ReadonlySet<string>; nowMs: number },
  ) => {
    const { viewer, waiting, toldMs } = entry
    const { news, sessions, nowMs } = look
    const ofTenant = viewer.tenant ? news.get(tenantIdOf(viewer.tenant)) : undefined
    for (const topic of [...(ofTenant ?? []), ...(news.get(viewer.userId) ?? [])]) {
      if (viewer.topics.has(topic)) waiting.add(topic)
    }
    const isEarly = (topic: LiveTopic) => frequent.has(topic) && nowMs - (toldMs.get(topic) ?? -gapMs) < gapMs
    const due = [...waiting].filter((topic) => !isEarly(topic))
    for (const topic of due) {
      waiting.delete(topic)
      toldMs.set(topic, nowMs)
    }
    if (due.length > 0 || nowMs - entry.heardMs >= signOfLifeMs) {
      entry.heardMs = nowMs
      viewer.tell(due)
    }
    const isOver = !sessions.has(viewer.sessionId) || viewer.endsAt <= now()
    if (isOver || ofTenant?.has('people') || nowMs - entry.sinceMs >= viewerMs) leave(entry)
  }

  const loop = createLoop({ steps: { 'look for live pages': look }, everyMs: lookEveryMs, log })

  return {
    watch(viewer) {
      const ofSession = [...entries].filter((entry) => entry.viewer.sessionId === viewer.sessionId)
      if (isStopping || entries.size >= viewersMax || ofSession.length >= viewersOfSessionMax) {
        throw new Problem('overloaded', { because: 'live pages' })
      }
      const nowMs = performance.now()
      const entry: Entry = { viewer, sinceMs: nowMs, heardMs: nowMs, waiting: new Set(), toldMs: new Map() }
      entries.add(entry)
      if (!hasStarted) loop.start()
      hasStarted = true
      return () => void entries.delete(entry)
    },
    async stop() {
      isStopping = true
      for (const entry of entries) leave(entry)
      await loop.stop()
    },
  }
}

function keyOf({ kind, of, item }: Seen): string {
  return `${kind} ${of} ${item}`
}

/** A kind of a row is a topic, or the name of an act. */
function topicOf(kind: string): LiveTopic | null {
  return liveTopics.find((topic) => topic === kind) ?? kindOf(kind)
}

/** What a first look takes for new: a page may have read before it was watched, and rather reads once too often. */
function somewhatBefore({ clock, actId, noticeId, disclosureId }: Known): Known {
  return { clock: clock - 5_000_000, actId: actId - 20, noticeId: noticeId - 20, disclosureId: disclosureId - 20 }
}

function watchedBy(all: readonly Entry[]): Watched {
  const tenants = all.map(({ viewer }) => viewer.tenant)
  const idsOf = (side: Tenant['side']) =>
    distinct(tenants.flatMap((tenant) => (tenant?.side === side && tenant.id !== null ? [tenant.id] : [])))
  return {
    sessionIds: distinct(all.map(({ viewer }) => viewer.sessionId)),
    userIds: distinct(all.map(({ viewer }) => viewer.userId)),
    companyIds: idsOf('company'),
    organizationIds: idsOf('organization'),
    isOperator: tenants.some((tenant) => tenant?.side === 'operator'),
  }
}

function distinct(ids: readonly string[]): string[] {
  return [...new Set(ids)]
}
