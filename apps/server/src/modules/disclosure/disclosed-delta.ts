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
export const fewMax = 50

/** A delta that is asked for from its beginning, by nothing but the moment of change. */
export type AskedDelta = Pick<DisclosureEntry, 'filters' | 'requestId' | 'ip'> & {
  modifiedAfter: Stamp
  /** Whether the answer may contain notes, where they are granted. */
  asksForNotes: boolean
  /** How many locations of a company may have incremental requests in flight. */
  locationsMax: number
}

/** The documents of a delta in id order. On record: its disclosure is durable. */
export type ReadDelta = {
  documents: Document[]
  isOnRecord: boolean
  /** How long the caller waited for it. */
  waitedMs: number
}

export type DeltaReader = {
  /**
   * A permit, and the delta of a few records with its disclosure, in one statement: one round trip, and one commit for all that ask meanwhile. `read` is null
   * where the permit says that the delta may not be read, or not yet, where it is empty or has more than `fewMax` records, and where the permit was
   * asked for alone. The caller decides by the permit all the same: what it refuses stays unsent.
   */
  permit: (
    token: VerifiedToken,
    locationId: string,
    dataset: DatasetName,
    delta: AskedDelta,
  ) => Promise<{ permit: ReadPermit; read: ReadDelta | null }>
}

/**
 * Reads small deltas with their permits. Where that fails or lasts, the permit is asked for alone: the statements that follow it say what is wrong. So a
 * delta may be put on record twice, by a statement that was given up and by one of its own, but is never sent unrecorded. One statement at a time, because
 * two commits wait for each other's log. Measured: 1.08 × as many deltas with 8 connections, 1.17 × with 32. `pool`: for what is asked apart from that;
 * `deltaPool`: made with `deltaConnections`.
 */
export function createDeltaReader({
  pool,
  deltaPool,
  controlPool,
  log,
}: {
  pool: Pool
  deltaPool: Pool
  controlPool: Pool
  log: Log
}): DeltaReader {
  const askWithDelta = askInTurn(deltaPool, sendBatch, {
    patienceMs: 100,
    onFailure: (error) => log({ event: 'task.failed', task: 'small deltas', error: databaseErrorCode(error) }),
  })
  return {
    async permit(token, locationId, dataset, delta) {
      let read: ReadDelta | null = null
      const ask: AskForPermit = async (controls, asked) => {
        const begunAt = performance.now()
        const row = await askWithDelta({ ...asked, delta })
        read = row && toReadDelta(row.slice(-4), performance.now() - begunAt)
        return row ?? (await askForPermit(controls, asked))
      }
      const options = { previewOff: false, drawOn: pool, ask }
      const permit = await permitRead(controlPool, token, locationId, dataset, options)
      return { permit, read }
    },
  }
}

function toReadDelta([records, isOnRecord, ids, documents]: TextRow, waitedMs: number): ReadDelta | null {
  if (Number(records) === 0 || !ids || !documents) return null
  const texts = documents.split('\n')
  return {
    documents: plainValues(ids).map((id, index) => [id, texts[index] ?? '']),
    isOnRecord: isOnRecord === 't',
    waitedMs,
  }
}

type Asked = AskedPermit & { delta: AskedDelta }

function sendBatch(client: PoolClient, batch: readonly Asked[]): Promise<TextRow[]> {
  return askPrepared(client, {
    name: 'permits-read-deltas',
    text: statement,
    values: [
      ...columnsOf(batch).map(plainArray),
      plainArray(batch.map(({ delta }) => delta.modifiedAfter)),
      plainArray(batch.map(({ delta }) => delta.locationsMax)),
      plainArray(batch.map(({ delta }) => String(delta.asksForNotes))),
      quotedArray(batch.map(({ delta }) => JSON.stringify(delta.filters))),
      quotedArray(batch.map(({ delta }) => delta.requestId)),
      quotedArray(batch.map(({ delta }) => delta.ip)),
    ],
    limitMs: 1_000,
  })
}

/**
 * What the pool of a delta reader is made with. A lock on the disclosures must not keep permits waiting, and no setting of the server may make a
 * disclosure less than durable. Set once for a connection of its own, because setting both with each statement took PostgreSQL a tenth of its time.
 */
export const deltaConnections = {
  max: 1,
  settings: { lock_timeout: '250ms' },
} as const

/** An answer of more bytes is in flight for as long as its reader takes, so it takes a slot before it is on record. */
const onRecordBytesMax = 60_000

/**
 * The conditions stand within the sub-select of records, which PostgreSQL therefore begins only where they hold. Documents are JSON of one line each.
 * The sub-selects of values hide them from the planner: see `permitsStatement`.
 */
const statement = `
  with answer as materialized (
    select one.*, permit.*, delta.records, delta.ids, delta.documents,
           delta.records between 1 and ${fewMax} and delta.bytes <= ${onRecordBytesMax} as is_on_record
      from unnest((select $1::bigint[]), (select $2::uuid[]), (select $3::uuid[]), (select $4::text[]), (select $5::bigint[]),
                  (select $6::integer[]), (select $7::boolean[]), (select $8::jsonb[]), (select $9::text[]), (select $10::inet[]))
             with ordinality
             as one (location_id, company_id, key_pair_id, dataset, modified_after, locations_max, asks_for_notes, filters, request_id, ip, place)
     cross join lateral ${permitOfOne} permit
     cross join lateral (
       select count(*) as records, sum(octet_length(document)) as bytes,
              case when count(*) <= ${fewMax} then array_agg(id order by id) end as ids,
              case when count(*) <= ${fewMax} then string_agg(document, E'\\n' order by id) end as documents
         from (
           select id, case when permit.has_notes then coalesce(document_with_notes, document) else document end as document
             from record
            where permit.is_live and permit.has_agreement
              and permit.granted_stamp <= one.modified_after and permit.first_stamp <= one.modified_after
              and (coalesce(cardinality(permit.in_flight), 0) < one.locations_max or one.location_id = any(permit.in_flight))
              and location_id = one.location_id and dataset = one.dataset and modified_at > one.modified_after
            order by modified_at
            limit ${fewMax + 1}) modified) delta
  ), written as (
    insert into disclosure (company_id, key_pair_id, location_id, dataset, notes, filters, records, record_ids, request_id, ip)
    select company_id, key_pair_id, location_id, dataset, has_notes and asks_for_notes, filters, records, ids, request_id, ip
      from answer
     where is_on_record
  )
  select ${permitColumnNames}, records, is_on_record, ids, documents
    from answer
   order by place`
