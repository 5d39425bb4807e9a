import type { SyncRecord } from '../sync/store.ts'

/** Both in ascending order of id; where both have an id, the change wins. Holds one record of each. */
export async function* mergeRecords(
  base: AsyncIterable<SyncRecord>,
  changes: AsyncIterable<SyncRecord>,
  left: ReadonlySet<string>,
): AsyncGenerator<SyncRecord> {
  const waiting = changes[Symbol.asyncIterator]()
  let change = await waiting.next()
  for await (const record of base) {
    while (!change.done && BigInt(change.value.id) < BigInt(record.id)) {
      yield change.value
      change = await waiting.next()
    }
    const isReplaced = !change.done && change.value.id === record.id
    if (!isReplaced && !left.has(record.id)) yield record
  }
  for (; !change.done; change = await waiting.next()) yield change.value
}
