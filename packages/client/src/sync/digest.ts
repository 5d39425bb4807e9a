import { createHash } from 'node:crypto'
import { ApiError } from '../api-error.ts'
import type { Connection } from '../connection.ts'
import { segment } from '../dataset-resource.ts'
import type { SyncKey, SyncRecord } from './store.ts'

/** The number of the service's records after one id and up to another, and their digest. */
export type DigestRange = { afterId: string; lastId: string; records: number; sha256: string }

/** The service's digest of one dataset of one location: its ranges, in ascending order of id. */
export async function* digestRanges(
  connection: Connection,
  { locationId, dataset }: SyncKey,
  signal: AbortSignal,
): AsyncGenerator<DigestRange> {
  const path = `/locations/${segment(locationId)}/${dataset}/digest`
  for (let after: string | null = '0'; after !== null; ) {
    const query = new Map([['after', after]])
    const { body, requestId } = await connection.get(path, { query, slot: { type: 'initial', locationId }, signal })
    // Its form is the contract's; what has no list is someone else's.
    const { data, meta } = body as {
      data: { attributes: Record<string, unknown> }[]
      meta: { next_after: string | null }
    }
    if (!Array.isArray(data)) {
      const errors = 'The answer is not a digest of Bridgework. Check the base URL.'
      throw new ApiError({ status: 200, code: 'answer_invalid', errors, requestId, attempts: 1 })
    }
    for (const { attributes } of data) {
      const { after_id, last_id, records, sha256 } = attributes
      yield { afterId: String(after_id), lastId: String(last_id), records: Number(records), sha256: String(sha256) }
    }
    after = meta.next_after
  }
}

/** A digest of records in any order, as the service makes it: the exclusive or of the SHA-256 of each one's JSON. Members that are null are left out, so an attribute that was added and is null makes no difference. */
export function createDigest() {
  const sum = Buffer.alloc(32)
  let count = 0
  return {
    add({ id, type, attributes }: SyncRecord) {
      count += 1
      xorInto(sum, createHash('sha256').update(withoutNulls({ id, type, attributes })).digest())
    },
    /** All records of another digest at once. */
    addSum(records: number, sha256: string) {
      count += records
      xorInto(sum, Buffer.from(sha256, 'hex'))
    },
    sum: () => ({ count, sha256: sum.toString('hex') }),
  }
}

/** A replacer's undefined leaves a member out; in a list, where it must stay, it is written as null. */
function withoutNulls(record: SyncRecord): string {
  return JSON.stringify(record, (_, value: unknown) => value ?? undefined)
}

function xorInto(sum: Buffer, other: Buffer): void {
  for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) ^ (other[index] ?? 0)
}
