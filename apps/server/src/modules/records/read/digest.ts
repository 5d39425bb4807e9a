import { limits } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { ReadPermit } from '../../consent/read-permit.ts'
import { documentOf } from './read-store.ts'

/** So many records after one id and up to another, and the exclusive or of the SHA-256 of what vendors receive of each, without members that are null. */
export type DigestRange = { afterId: string; lastId: string; records: number; sha256: string }

/**
 * Sums up what follows `after` ('0': everything), as much as one answer holds. Goes along the primary key and hashes stored documents where they
 * are, so that none of them leaves the database. Members that are null are left out, in lists of objects too, so that a record and its copy stay equal
 * when an attribute is added that is null in it. `json_strip_nulls` writes texts as `JSON.stringify` does (PostgreSQL's escape_json).
 */
export async function readDigest(
  pool: Pool,
  permit: ReadPermit,
  after: string,
): Promise<{ ranges: DigestRange[]; nextAfter: string | null }> {
  const { digestRangeRecords, digestRangesMax } = limits
  const { named, document } = documentOf(permit)
  const { rows } = await pool.query<[last: string, records: string, sha256: string]>({
    name: `records.digest${named}`,
    text: `select max(id), count(*), bit_xor(hash)
       from (
         select id, (row_number() over (order by id) - 1) / $4::bigint as range,
                ('x' || encode(sha256(convert_to(json_strip_nulls((${document})::json)::text, 'UTF8')), 'hex'))::bit(256) as hash
           from record
          where location_id = $1 and dataset = $2 and id > $3
          order by id
          limit $4::bigint * $5::bigint
       ) hashed
      group by range
      order by range`,
    values: [permit.locationId, permit.dataset, after, digestRangeRecords, digestRangesMax],
    rowMode: 'array',
  })
  const ranges = rows.map(([lastId, records, bits], index) => ({
    afterId: rows[index - 1]?.[0] ?? after,
    lastId,
    records: Number(records),
    sha256: BigInt(`0b${bits}`).toString(16).padStart(64, '0'),
  }))
  const last = ranges.at(-1)
  const isFull = ranges.length === digestRangesMax && last?.records === digestRangeRecords
  return { ranges, nextAfter: isFull ? last.lastId : null }
}
