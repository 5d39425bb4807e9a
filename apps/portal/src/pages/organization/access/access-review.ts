import type { ReaderEntry } from '@bridgework/contract/portal'

const dayMs = 86_400_000
/** Access that was not used for so long is probably not needed. */
export const unusedDays = 90
/** A grant that ends within this time is shown. */
export const endsSoonDays = 30

/** Vendors with access that have read nothing for 90 days, the time since their grant included. */
export function unusedReaders(readers: readonly ReaderEntry[], nowMs: number): ReaderEntry[] {
  return readers.filter(({ has_access, last_read_at, granted_at }) => {
    const lastMs = Math.max(...[last_read_at, granted_at].map((at) => (at === null ? 0 : Date.parse(at))))
    return has_access && nowMs - lastMs > unusedDays * dayMs
  })
}

/** Vendors whose access ends within 30 days, the next end first. */
export function endingReaders(readers: readonly ReaderEntry[], nowMs: number): ReaderEntry[] {
  return readers
    .flatMap((reader) =>
      reader.has_access && reader.ends_at !== null ? [{ reader, ms: Date.parse(reader.ends_at) }] : [],
    )
    .filter(({ ms }) => ms > nowMs && ms - nowMs <= endsSoonDays * dayMs)
    .sort((one, other) => one.ms - other.ms)
    .map(({ reader }) => reader)
}
