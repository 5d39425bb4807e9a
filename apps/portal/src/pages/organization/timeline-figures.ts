import type { TimelineCell } from '@bridgework/contract/portal'

/** In words how much of the open time a dataset was read in. */
export function shareRead(cells: readonly TimelineCell[]): string {
  const read = cells.filter(({ kind }) => kind === 'read').length
  const missed = cells.filter(({ kind }) => kind === 'missed').length
  if (read + missed === 0) return 'nothing was due'
  return missed === 0 ? 'read in every cell that was due' : `read in ${read} of ${read + missed} cells that were due`
}

/** The longest time without a read while open; a read ends it, hours when the practice is closed do not count. */
export function longestGap(cells: readonly TimelineCell[], cellSeconds: number): string {
  let longest = 0
  let current = 0
  for (const { kind } of cells) {
    if (kind === 'read') current = 0
    if (kind === 'missed') current += 1
    longest = Math.max(longest, current)
  }
  if (longest === 0) return 'none'
  const minutes = (longest * cellSeconds) / 60
  const hours = Math.floor(minutes / 60)
  return [hours > 0 && `${hours} h`, minutes % 60 > 0 && `${minutes % 60} min`].filter(Boolean).join(' ')
}
