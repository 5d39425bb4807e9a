import type { DatasetCopy } from '@bridgework/contract/portal'

/** When the least current dataset that the system provides was read. Null while one of them has not been read yet, and without datasets. */
export function oldestRead(datasets: readonly Pick<DatasetCopy, 'state' | 'synced_at'>[]): string | null {
  const instants = datasets.filter(({ state }) => state !== 'not_provided').map(({ synced_at }) => synced_at)
  const read = instants.filter((at) => at !== null)
  // Instants of one form are in order as texts are.
  return read.length === instants.length ? (read.toSorted()[0] ?? null) : null
}
