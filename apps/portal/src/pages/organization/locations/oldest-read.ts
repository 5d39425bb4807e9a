import type { DatasetCopy } from '@bridgework/contract/portal'

/** When the least current dataset was read, of those that the system provides; null while one of them was never read, or there is none. */
export function oldestRead(datasets: readonly Pick<DatasetCopy, 'state' | 'synced_at'>[]): string | null {
  const instants = datasets.filter(({ state }) => state !== 'not_provided').map(({ synced_at }) => synced_at)
  const read = instants.filter((at) => at !== null)
  // Instants of one form are in order as texts are.
  return read.length === instants.length ? (read.toSorted()[0] ?? null) : null
}
