import type { DatasetName } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import {
  askPrepared,
  plainArray,
  plainValues,
  quotedArray,
  type TextRow,
} from '../../platform/database/hot/prepared.ts'
import { askInTurn } from '../../platform/database/hot/together.ts'
import { databaseErrorCode } from '../../platform/database/unavailable.ts'
import type { Log } from '../../platform/log/log-event.ts'
import {
  type AskedPermit,
  type AskForPermit,
  askForPermit,
  columnsOf,
  permitColumnNames,
  permitOfOne,
  permitRead,
  type ReadPermit,
} from '../consent/read-permit.ts'
import type { VerifiedToken } from '../credentials/access-token.ts'
import type { Stamp } from '../datasets/stamp.ts'
import type { Document } from '../records/write/document.ts'
import type { DisclosureEntry } from './store.ts'

/** Most deltas have no more. 32 requests that ask together have fewer records in memory than one page may have. */
export const smallDeltaMax = 50

/** The default page, and every smaller one. */
export const smallPageMax = 100

/** A delta from its beginning, chosen by nothing but the moment of change, or a page of the whole dataset. */
export type AskedSmallRead = Pick<DisclosureEntry, 'filters' | 'requestId' | 'ip'> & {
  /** Null: a page of the whole dataset. */
  modifiedAfter: Stamp | null
  /** The id that a page begins after. */
  after: string
  /** A delta of more records is not read; of a page one more is. */
  items: number
  /** Whether the answer may contain notes, where they are granted. */
  asksForNotes: boolean
  /** How many locations of a company may have requests of this type in flight. */
  locationsMax: number
}

/** Documents in id order; of a page one more than asked for, where another page follows. On record: the disclosure is durable. */
export type SmallRead = {
  documents: Document[]
  isOnRecord: boolean
  /** How long the caller waited for it. */
  waitedMs: number
}

export type SmallReader = {
  /**
   * A permit, and what few records were asked for with their disclosure, in one statement: one round trip, and one commit for all that ask meanwhile.
   * `read` is null where the permit says that they may not be read, or not yet, where there are none or too many, and where the permit was asked for
   * alone. The caller decides by the permit all the same: what it refuses stays unsent.
   */
  permit: (
    token: VerifiedToken,
    locationId: string,
    dataset: DatasetName,
    asked: AskedSmallRead,
  ) => Promise<{ permit: ReadPermit; read: SmallRead | null }>
}

/**
 * Reads small answers with their permits. Where that fails or lasts, the permit is asked for alone: the statements that follow it say what is wrong. So a
 * read may be put on record twice, by a statement that was given up and by one of its own, but is never sent unrecorded. One statement at a time, because
 * two commits wait for each other's log. Measured: 1.08 × as many deltas with 8 connections, 1.17 × with 32. `pool`: for what is asked apart from that;
 * `smallReadPool`: made with `smallReadConnections`.
 */
export function createSmallReader({
  pool,
  smallReadPool,
  controlPool,
  log,
}: {
  pool: Pool
  smallReadPool: Pool
  controlPool: Pool
  log: Log
}): SmallReader {
  let loggedAtMs = Number.NEGATIVE_INFINITY
  const askWithRead = askInTurn(smallReadPool, sendBatch, {
    patienceMs: 100,
    onFailure: (error) => {
      const now = performance.now()
      if (now - loggedAtMs < logEveryMs) return
      loggedAtMs = now
      log({ event: 'task.failed', task: 'small reads', error: databaseErrorCode(error) })
    },
  })
  return {
    async permit(token, locationId, dataset, read) {
      let found: SmallRead | null = null
      const ask: AskForPermit = async (controls, asked) => {
        const begunAt = performance.now()
        const row = await askWithRead({ ...asked, read })
        found = row && toSmallRead(row.slice(-3), performance.now() - begunAt)
        return row ?? (await askForPermit(controls, asked))
      }
      const options = { previewOff: false, drawOn: pool, ask }
      const permit = await permitRead(controlPool, token, locationId, dataset, options)
      return { permit, read: found }
    },
  }
}

/** Its connection may be away for long while the others, through a pooler, are not: then each request fails here and is answered all the same. */
const logEveryMs = 60_000

function toSmallRead([isOnRecord, ids, documents]: TextRow, waitedMs: number): SmallRead | null {
  if (!ids || !documents) return null
  const texts = documents.split('\n')
  return {
    documents: plainValues(ids).map((id, index) => [id, texts[index] ?? '']),
    isOnRecord: isOnRecord === 't',
    waitedMs,
  }
}

type Asked = AskedPermit & { read: AskedSmallRead }

function sendBatch(client: PoolClient, batch: readonly Asked[]): Promise<TextRow[]> {
  return askPrepared(client, {
    name: 'small-reads',
    text: statement,
    values: [
      ...columnsOf(batch).map(plainArray),
      plainArray(batch.map(({ read }) => read.modifiedAfter)),
      plainArray(batch.map(({ read }) => read.after)),
      plainArray(batch.map(({ read }) => read.items)),
      plainArray(batch.map(({ read }) => read.locationsMax)),
      plainArray(batch.map(({ read }) => String(read.asksForNotes))),
      quotedArray(batch.map(({ read }) => JSON.stringify(read.filters))),
      quotedArray(batch.map(({ read }) => read.requestId)),
      quotedArray(batch.map(({ read }) => read.ip)),
    ],
    limitMs: 1_000,
  })
}

/**
 * What the pool of a small reader is made with. A lock on the disclosures must not keep permits waiting, and no setting of the server may make a
 * disclosure less than durable. Set once for a connection of its own, because setting both with each statement took PostgreSQL a tenth of its time.
 */
export const smallReadConnections = {
  max: 1,
  settings: { lock_timeout: '250ms' },
} as const

/** An answer of more bytes is in flight for as long as its reader takes, so it takes a slot before it is on record. */
const onRecordBytesMax = 60_000

/** A page of more bytes is read by itself: 32 that ask together are then less than the largest page. */
const pageBytesMax = 300_000

/** In the statement itself, because a session may have lost what it began with: else its disclosure is written by the one that sets this for itself. */
const isDurable = `current_setting('synchronous_commit') <> 'off'`

const isPage = 'one.modified_after is null'
const document = 'case when permit.has_notes then coalesce(document_with_notes, document) else document end as document'

/**
 * The conditions stand within the sub-selects of records, which PostgreSQL therefore begins only where they hold. Documents are JSON of one line each.
 * The sub-selects of values hide them from the planner: see `permitsStatement`.
 */
const statement = `
  with answer as materialized (
    select one.*, permit.*, found.*, fits.is_read, fits.is_read and found.bytes <= ${onRecordBytesMax} and ${isDurable} as is_on_record
      from unnest((select $1::bigint[]), (select $2::uuid[]), (select $3::uuid[]), (select $4::text[]), (select $5::bigint[]),
                  (select $6::bigint[]), (select $7::integer[]), (select $8::integer[]), (select $9::boolean[]), (select $10::jsonb[]),
                  (select $11::text[]), (select $12::inet[]))
             with ordinality
             as one (location_id, company_id, key_pair_id, dataset, modified_after, after_id, items, locations_max, asks_for_notes, filters,
                     request_id, ip, place)
     cross join lateral ${permitOfOne(`case when ${isPage} then 'initial' else 'incremental' end`)} permit
     cross join lateral (
       select permit.is_live and permit.has_agreement and permit.granted_stamp is not null
              and (${isPage} or (permit.granted_stamp <= one.modified_after and permit.first_stamp <= one.modified_after))
              and (coalesce(cardinality(permit.in_flight), 0) < one.locations_max or one.location_id = any(permit.in_flight)) as holds) may
     cross join lateral (
       select count(*) as records, sum(octet_length(document)) as bytes, array_agg(id order by id) as ids,
              string_agg(document, E'\\n' order by id) as documents
         from (
           (select id, ${document}
              from record
             where may.holds and ${isPage} and location_id = one.location_id and dataset = one.dataset and id > one.after_id
             order by id
             limit one.items + 1)
            union all
           (select id, ${document}
              from record
             where may.holds and not ${isPage} and location_id = one.location_id and dataset = one.dataset
               and modified_at > one.modified_after
             order by modified_at
             limit one.items + 1)) chosen) found
     cross join lateral (
       select case when ${isPage} then found.bytes <= ${pageBytesMax} else found.records between 1 and one.items end as is_read) fits
  ), written as (
    insert into disclosure
      (company_id, key_pair_id, location_id, dataset, notes, filters, records, record_ids, after_id, last_id, request_id, ip)
    select company_id, key_pair_id, location_id, dataset, has_notes and asks_for_notes, filters, least(records, items),
           case when not ${isPage} then ids end, case when ${isPage} then after_id end,
           case when ${isPage} then ids[least(records, items)] end, request_id, ip
      from answer one
     where is_on_record
  )
  select ${permitColumnNames}, is_on_record, case when is_read then ids end, case when is_read then documents end
    from answer
   order by place`
