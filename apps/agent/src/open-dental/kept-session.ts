import { setTimeout as sleep } from 'node:timers/promises'
import type { DatasetName, NotesRead, SourceLocation } from '../connector.ts'
import type { ComparedBefore } from './changes/digests.ts'
import type { Lookup } from './changes/lookup.ts'
import { type Marks, tableWatch } from './changes/table-watch.ts'
import type { DatabaseSettings } from './database/database-settings.ts'
import { readReplica } from './database/replica.ts'
import { type Guard, openSession, type Session } from './database/session.ts'

/** A session that serves many cycles, with what they found out, and when; `marks`: of when this cycle, or the last one, began. */
export type KeptSession = Omit<ComparedBefore, 'marks'> & {
  session: Session
  marks: Marks
  readonly openedAtMs: number
  guard: { readonly value: Guard; readonly marks: Marks } | null
  locations: { readonly zones: string; readonly value: readonly SourceLocation[]; readonly marks: Marks } | null
  reached: { readonly value: string; readonly marks: Marks } | null
  /** The cursor that the last cycle gave for a dataset, and the marks of then. */
  readonly cursors: Map<DatasetName, { readonly cursor: string; readonly marks: Marks }>
  readonly lookups: Map<string, { readonly value: Promise<Lookup>; readonly marks: Marks }>
}

/** How often the database is asked whether a table was written to. */
const probeEveryMs = 1000

/** After a cycle it rests as long as that took, so that a busy office has half of the time for itself; but not longer than this. */
const restMsMax = 2000

/** A session is opened anew after this time, for what only its beginning finds out; and where a table could not be read, sooner. */
const [sessionMsMax, retryUnreadableMs] = [6 * 60 * 60_000, 60_000]

/** Keeps one session from cycle to cycle, and watches in between which tables are written to. */
export function keepSession(settings: DatabaseSettings, nowMs: () => number = Date.now) {
  const watch = tableWatch()
  let kept: KeptSession | null = null
  let [beganAtMs, tookMs] = [0, 0]

  async function drop(): Promise<void> {
    const before = kept
    kept = null
    await before?.session.database.end()
  }

  function isOld({ session, openedAtMs }: KeptSession): boolean {
    const ageMs = nowMs() - openedAtMs
    return ageMs > sessionMsMax || (session.database.unreadable.size > 0 && ageMs > retryUnreadableMs)
  }

  async function begin(notes: NotesRead): Promise<KeptSession> {
    beganAtMs = nowMs()
    if (kept !== null && (isOld(kept) || kept.session.notes.symmetricDifference(notes).size > 0)) await drop()
    const marks = kept === null ? null : await watch.read(kept.session.database).catch(() => null)
    if (kept !== null && marks !== null && marks.nowUtc !== '') {
      kept.marks = marks
      const { database, serverVersion, replica } = kept.session
      const isReplica = replica.is === 'replica' || replica.is === 'stopped'
      kept.session = {
        ...kept.session,
        nowUtc: marks.nowUtc,
        replica: isReplica ? await readReplica(database, serverVersion) : replica,
      }
      return kept
    }
    // Without the connection nothing is known of what happened: the server may have been started anew.
    await drop()
    const session = await openSession(settings, notes)
    kept = {
      session,
      marks: await watch.read(session.database),
      openedAtMs: nowMs(),
      guard: null,
      locations: null,
      reached: null,
      cursors: new Map(),
      lookups: new Map(),
      compared: new Map(),
      begun: new Map(),
      compareAtMs: null,
    }
    return kept
  }

  return {
    watch,
    begin,
    drop,
    endCycle: () => {
      tookMs = nowMs() - beganAtMs
    },
    /** Resolves when a table was written to since the last cycle began, or when the signal says so. */
    untilChanged: async (signal: AbortSignal): Promise<void> => {
      const wait = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {})
      await wait(Math.min(tookMs, restMsMax))
      while (!signal.aborted && kept !== null) {
        const now = await watch.read(kept.session.database).catch(() => null)
        if (now === null) await drop()
        else if (watch.isReadDue(kept.marks, now)) return
        else if (kept.compareAtMs !== null && nowMs() >= kept.compareAtMs) return
        await wait(probeEveryMs)
      }
      // Without a connection there is nothing to watch: the next cycle, at its time, says why.
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    },
  }
}

export type SessionKeeper = ReturnType<typeof keepSession>
