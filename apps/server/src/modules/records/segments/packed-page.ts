import { type CustomTypesConfig, type Pool, types } from 'pg'
import type { PackedRun } from '../../../platform/gzip/packed-run.ts'
import { ownBytes } from '../../../platform/memory/own-bytes.ts'
import type { ReadPermit } from '../../consent/read-permit.ts'

/** A part of a page: packed records up to an id, or the document of one. */
export type PagePart = { lastId: string; records: number; packed: PackedRun } | { lastId: string; document: string }

/** Changes that a page looks for itself. Where there are more since the last check of the segments, the page is read from records. */
const changedMax = 1_000

/**
 * At least `limit` records after an id where there are as many: segments where nothing in them changed since they were packed, else documents.
 * One statement, so one moment: a segment is sent only where the same statement sees that it was not marked as stale, and that no record in its
 * ids was modified after the last check, which marked all that was modified before it. Segments by their key, changes by record_modified,
 * documents by the primary key. `runRecords`: that a segment has. `asLines`: only segments that can be switched to lines. Null: a segment has another
 * number of records, or does not begin where the one before it ends.
 */
export async function readPacked(
  pool: Pool,
  permit: ReadPermit,
  after: string,
  limit: number,
  runRecords: number,
  asLines: boolean,
): Promise<PagePart[] | null> {
  const { rows } = await pool.query<Row>({
    name: 'records.packed',
    text: `with known as materialized (
       select checked_stamp, last_id from segment_state where location_id = $1 and dataset = $2
     ), changed as materialized (
       select id, modified_at
         from record
        where location_id = $1 and dataset = $2 and modified_at > (select checked_stamp from known)
        limit $5::bigint + 1
     ), near as materialized (
       select last_id, after_id, records, stamp, stale_since, bytes, crc32, data, lines_at, lines_crc32,
              sum(records) over by_id as reached, lag(last_id, 1, $3::bigint) over by_id as before_id,
              lead(after_id) over by_id as next_id
         from (select last_id, after_id, records, stamp, stale_since, bytes, crc32, data, lines_at, lines_crc32
                 from segment
                where location_id = $1 and dataset = $2 and last_id > $3
                  and exists (select 1 from known) and (select count(*) from changed) <= $5
                order by last_id
                limit $6) next
       window by_id as (order by last_id)
     ), joined as (
       select *,
              records = $8 and greatest(after_id, $3) = before_id and last_id = coalesce(next_id, last_id)
                and last_id <= (select last_id from known) as is_right
         from near
        where reached <= $4
     ), run as materialized (
       select last_id, after_id, before_id, records, bytes, crc32, data, lines_at, lines_crc32, is_right,
              is_right and after_id >= $3 and stale_since is null and (lines_at > 0 or not $7::boolean) and not exists (
                select 1 from changed
                 where changed.id > joined.after_id and changed.id <= joined.last_id and changed.modified_at > joined.stamp) as is_valid
         from joined
     )
     select last_id as id, null as document, records, bytes, crc32, encode(data, 'hex')::varchar, lines_at, lines_crc32 from run where is_valid
      union all
     select inside.id, inside.document, null, null, null, null, null, null
       from run
      cross join lateral (
            select id, document
              from record
             where location_id = $1 and dataset = $2 and id > run.before_id and id <= run.last_id) inside
      where not run.is_valid
      union all
     (select id, document, (select ${broken} from run where not is_right limit 1), null, null, null, null, null
        from record
       where location_id = $1 and dataset = $2 and id > coalesce((select max(last_id) from run), $3)
       order by id
       limit $4::bigint + 1 - coalesce((select sum(records) from run where after_id >= $3), 0))
      order by 1`,
    values: [
      permit.locationId,
      permit.dataset,
      after,
      limit,
      changedMax,
      Math.ceil(limit / runRecords) + 1,
      asLines,
      runRecords,
    ],
    rowMode: 'array',
    types: withOwnBytes,
  })
  const [, document, mark] = rows.at(-1) ?? []
  return document !== null && mark === broken ? null : rows.map(partOf)
}

/** Of a record that follows segments, in the place of a segment's records: one of them was not right. */
const broken = -1

/**
 * Reads the bytes of segments as they arrive: kept until the page is whole, their texts would outlive the young generation. They come as hex, which
 * no setting of the session writes in another way, and as varchar, which no other column of the statement is.
 */
const withOwnBytes: CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === types.builtins.VARCHAR ? toOwnBytes : types.getTypeParser(oid, format)),
}

/** Throws when the text does not fill the bytes: what is left of them is memory that another request has used. */
export function toOwnBytes(hex: string): Buffer {
  const bytes = ownBytes(hex.length / 2)
  if (bytes.write(hex, 'hex') * 2 !== hex.length) throw new Error('the bytes of a segment are not hex')
  return bytes
}

type Row = [id: string, document: string, ...unknown: unknown[]] | [id: string, document: null, ...segment: SegmentRow]
type SegmentRow = [records: number, bytes: number, crc32: string, data: Buffer, linesAt: number, linesCrc32: string]

/** The bytes of a segment are own ones. */
function partOf([lastId, document, ...segment]: Row): PagePart {
  if (document !== null) return { lastId, document }
  // Either there is a document, or there are all columns of a segment.
  const [records, bytes, crc32, data, linesAt, linesCrc32] = segment as SegmentRow
  const lines = linesAt > 0 ? { at: linesAt, crc32: Number(linesCrc32) } : null
  return { lastId, records, packed: { data, bytes, crc32: Number(crc32), lines } }
}
