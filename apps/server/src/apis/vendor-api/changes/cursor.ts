import type { Place } from '../../../modules/changes/change-rows.ts'
import type { Stamp } from '../../../modules/datasets/stamp.ts'

/**
 * Where a reader of /changes is: it knows what had come to light by `until`. In the middle of a walk, it asks for what changed after `since` (null:
 * all that there is), has it up to `place`, and knows what had come to light by `until` when it has the rest.
 */
export type ChangeCursor = { epoch: string; until: Stamp; walk: { since: Stamp | null; place: Place } | null }

/** The numbers of a place fit PostgreSQL's bigint. */
const pattern =
  /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})_(\d{1,16})(?:_(all|\d{1,16})_([0-4])_(\d{1,18})_(\d{1,3}))?$/

/** Opaque to callers, and made of characters that need no escape in a URL. */
export function formatCursor({ epoch, until, walk }: ChangeCursor): string {
  const parts = [epoch, until]
  if (walk) parts.push(walk.since ?? 'all', ...walk.place)
  return parts.join('_')
}

/** Null: it is none. */
export function parseCursor(text: string): ChangeCursor | null {
  const [, epoch, until, since, kind, first = '', second] = pattern.exec(text) ?? []
  if (epoch === undefined) return null
  const walk =
    since === undefined
      ? null
      : { since: since === 'all' ? null : Number(since), place: [Number(kind), first, Number(second)] as const }
  return { epoch, until: Number(until), walk }
}
