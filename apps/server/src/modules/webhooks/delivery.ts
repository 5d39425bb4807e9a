import { createHash } from 'node:crypto'
import type { ChangeKind } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import type { CompanyId, EndpointId } from '../../platform/identity/identity.ts'
import type { ChangeRow } from '../changes/change-rows.ts'

/** A row of /changes that waits for an endpoint. `sequence` null: it was not attempted yet. */
export type Delivery = {
  type: ChangeKind
  rowId: string
  messageId: string
  sequence: string | null
  attempts: number
}

/** The id that a row has in /changes. */
export function rowIdOf(row: ChangeRow): string {
  if (row.kind === 'agreement') return String(row.version)
  if (row.kind === 'key') return row.clientId
  return row.kind === 'location' ? row.locationId : `${row.locationId}/${row.dataset}`
}

/** An endpoint gets what changed at most so long before it was added: a transaction may show a moment's change later. */
const lateMs = 60_000

/**
 * Notes for the company's endpoints which rows say something else than was found last. One that waits already is not added again, and is attempted at
 * once. `isWhole`: these are all rows that there are, also those from before an endpoint was added.
 */
export async function addDeliveries(
  db: Queryable,
  companyId: CompanyId,
  rows: readonly ChangeRow[],
  { isWhole }: { isWhole: boolean },
): Promise<void> {
  if (rows.length === 0) return
  await db.query(
    `insert into webhook_delivery (endpoint_id, type, row_id, row_at, row_hash)
     select e.id, changed.type, changed.row_id, changed.row_at, decode(changed.row_hash, 'hex')
       from unnest($2::text[], $3::text[], $4::bigint[], $5::text[]) as changed (type, row_id, row_at, row_hash)
       join webhook_endpoint e on e.company_id = $1 and changed.type = any(e.types)
      where $6 or changed.row_at > (extract(epoch from e.created_at) * 1000000)::bigint - $7
      order by e.id, changed.type, changed.row_id
         on conflict (endpoint_id, type, row_id) do update
        set row_at = excluded.row_at, row_hash = excluded.row_hash, is_pending = true, message_id = null, attempts = 0,
            due_at = clock_timestamp()
      where webhook_delivery.row_hash <> excluded.row_hash`,
    [
      companyId,
      rows.map(({ kind }) => kind),
      rows.map(rowIdOf),
      rows.map(({ at }) => at),
      rows.map(hashOf),
      isWhole,
      lateMs * 1000,
    ],
  )
}

/**
 * Of what a row says, without what changes with the clock, and with the vendor's own reads.
 */
function hashOf(row: ChangeRow): string {
  const { at: _, place: __, ...rest } = row
  const { kind } = rest
  const says = kind === 'dataset' ? { lastStamp: rest.lastStamp, grantedAt: rest.grantedAt, held: rest.held } : rest
  return createHash('sha256').update(JSON.stringify(says)).digest('hex')
}

/** A claim outlives an attempt, whose process may have died, by so much. */
const claimedMs = 60_000

/**
 * Claims what is due for an endpoint: what was attempted least often first, so that a message that fails holds up no other. Notes that the endpoint is
 * attempted.
 */
export async function claimDeliveries(db: Queryable, endpointId: EndpointId, limit: number): Promise<Delivery[]> {
  const { rows } = await db.query<RowOf<Delivery>>(
    `with moment as (select clock_timestamp() as at),
          attempted as (update webhook_endpoint set attempted_at = moment.at from moment where id = $1),
          ready as (
            select type, row_id
              from webhook_delivery
             where endpoint_id = $1 and is_pending and due_at <= clock_timestamp()
               and (claimed_until is null or claimed_until <= clock_timestamp())
             order by attempts, due_at
             limit $2
               for update skip locked)
     update webhook_delivery d
        set claimed_until = clock_timestamp() + $3 * interval '1 millisecond',
            message_id = coalesce(d.message_id, gen_random_uuid())
       from ready
      where d.endpoint_id = $1 and d.type = ready.type and d.row_id = ready.row_id
     returning d.type, d.row_id, d.message_id, d.sequence, d.attempts`,
    [endpointId, limit, claimedMs],
  )
  return rows.map((row) => fromRow<Delivery>(row))
}

/** Gives a delivery its number, which it keeps until an attempt succeeds: the endpoint's numbers have no gap but for what was not sent. */
export async function numberDelivery(
  db: Queryable,
  endpointId: EndpointId,
  { type, rowId }: Delivery,
): Promise<string> {
  const { rows } = await db.query<{ sequence: string }>(
    `with next as (update webhook_endpoint set last_sequence = last_sequence + 1 where id = $1 returning last_sequence)
     update webhook_delivery set sequence = next.last_sequence
       from next
      where endpoint_id = $1 and type = $2 and row_id = $3
     returning sequence`,
    [endpointId, type, rowId],
  )
  if (!rows[0]) throw new Error('a claimed delivery is gone')
  return rows[0].sequence
}

/** Takes back a delivery whose row is no longer there: an access that ended, which has a row of its own. */
export async function dropDelivery(db: Queryable, endpointId: EndpointId, delivery: Delivery): Promise<void> {
  await db.query(
    'delete from webhook_delivery where endpoint_id = $1 and type = $2 and row_id = $3 and message_id = $4',
    [endpointId, delivery.type, delivery.rowId, delivery.messageId],
  )
  await releaseDelivery(db, endpointId, delivery)
}

/** Ends the claim without an attempt. */
export async function releaseDelivery(db: Queryable, endpointId: EndpointId, { type, rowId }: Delivery): Promise<void> {
  await db.query(
    'update webhook_delivery set claimed_until = null where endpoint_id = $1 and type = $2 and row_id = $3',
    [endpointId, type, rowId],
  )
}

/** Sends a row again, as it is now. */
export async function sendAgain(
  db: Queryable,
  endpointId: EndpointId,
  { type, rowId }: { type: string; rowId: string },
): Promise<void> {
  await db.query(
    `insert into webhook_delivery (endpoint_id, type, row_id, row_at, row_hash) values ($1, $2, $3, 0, '')
         on conflict (endpoint_id, type, row_id) do update
        set is_pending = true, message_id = null, attempts = 0, due_at = clock_timestamp()`,
    [endpointId, type, rowId],
  )
}

/** Deletes what was delivered and is not found again, because it changed before this stamp. */
export async function deleteDone(db: Queryable, before: number): Promise<void> {
  await db.query('delete from webhook_delivery where not is_pending and row_at <= $1', [before])
}
