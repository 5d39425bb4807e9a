import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { EndpointId } from '../../platform/identity/identity.ts'
import { failureInWords } from '../../platform/outgoing/failure-in-words.ts'
import { createOutgoing, type Outgoing } from '../../platform/outgoing/outgoing.ts'
import { unsealText } from '../credentials/sealed-text.ts'
import type { SecretKey } from '../credentials/secret.ts'
import type { Delivery } from './delivery.ts'
import type { SignedEndpoint } from './endpoint.ts'
import { signedHeaders } from './signature.ts'

/** How endpoints are called. `allowPrivate`: also over http and on this machine, for the sandbox. */
export type WebhookAccess = Pick<Outgoing, 'fetch'> & { allowPrivate: boolean }

const answeredWithinMs = 15_000
const answerBytesMax = 1024

/** `stopping` ends every attempt, which then counts as none. */
export function createWebhookAccess(options: {
  allowPrivate: boolean
  stopping?: AbortSignal | undefined
  timeoutMs?: number
}): WebhookAccess {
  const outgoing = createOutgoing({ timeoutMs: answeredWithinMs, ...options, cutAfterBytes: answerBytesMax })
  return { fetch: outgoing.fetch, allowPrivate: options.allowPrivate }
}

/** What an endpoint made of a message: its answer, or why there is none. */
export type Outcome = { durationMs: number } & (
  | { status: number; answer: string; retryAfterMs: number | null; failure: null }
  | { status: null; answer: null; retryAfterMs: null; failure: string }
)

export type Message = { id: string; body: string }

/** An entry of the list of attempts. `sequence` is null for a test. */
export type Attempt = {
  id: string
  messageId: string
  sequence: string | null
  type: string
  rowId: string
  attemptedAt: Date
  durationMs: number
  status: number | null
  failure: string | null
  answer: string | null
}

/** Whether an answer says that the message was received. */
export function isReceived({ status }: Pick<Attempt, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300
}

/** Sends a message, signed. Never throws for what the endpoint does: throws the Problem with which the server stops. */
export async function sendMessage(
  { access, secretKey }: { access: WebhookAccess; secretKey: SecretKey },
  { url, sealedSecrets }: SignedEndpoint,
  { id, body }: Message,
  timestamp: Date,
): Promise<Outcome> {
  const secrets = await Promise.all(sealedSecrets.map((sealed) => unsealText(secretKey, sealed)))
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Bridgework',
    ...signedHeaders(secrets, { id, timestamp, body }),
  }
  const begunMs = performance.now()
  const durationMs = () => Math.round(performance.now() - begunMs)
  try {
    const answer = await access.fetch(url, { method: 'POST', headers, body })
    return {
      durationMs: durationMs(),
      status: answer.status,
      // PostgreSQL stores no NUL.
      answer: (await answer.text()).replaceAll('\0', '\uFFFD'),
      retryAfterMs: retryAfterMs(answer.headers.get('retry-after'), timestamp),
      failure: null,
    }
  } catch (error) {
    if (error instanceof Problem) throw error
    const failure = failureInWords(error, answeredWithinMs)
    return { durationMs: durationMs(), status: null, answer: null, retryAfterMs: null, failure }
  }
}

const retryAfterMaxMs = 24 * 3_600_000

/** RFC 9110 10.2.3: seconds, or a date. At most a day. */
function retryAfterMs(text: string | null, now: Date): number | null {
  if (text === null) return null
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime()
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), retryAfterMaxMs)
}

/** After a failure: 5 seconds, then twice as long each time. A failing endpoint is attempted again within five minutes, a message within an hour. */
const backOffMs = 5_000
const endpointBackOffMaxMs = 5 * 60_000
const messageBackOffMaxMs = 60 * 60_000
/** So many days of failures stop an endpoint. */
export const failingDaysMax = 5

/**
 * Puts an attempt on record, with what follows from it: what was received waits no longer, unless something else is to be sent by now; what was not is
 * tried again; 410 stops the endpoint, and so do five days of failures. All or nothing.
 */
export async function recordAttempt(
  pool: Pool,
  { id: endpointId }: SignedEndpoint,
  delivery: Delivery & { sequence: string },
  outcome: Outcome,
): Promise<void> {
  const { type, rowId, messageId, attempts } = delivery
  await withTransaction(pool, async (client) => {
    // Endpoints before deliveries: as everything that locks both.
    const { rowCount } = await client.query('select from webhook_endpoint where id = $1 for no key update', [
      endpointId,
    ])
    if (rowCount === 0) return
    await addAttempt(client, endpointId, delivery, outcome)
    if (isReceived(outcome)) {
      await client.query('update webhook_endpoint set failures = 0, failing_since = null where id = $1', [endpointId])
      await client.query(
        `update webhook_delivery
            set claimed_until = null, sequence = null, attempts = 0, is_pending = message_id is distinct from $4,
                message_id = nullif(message_id, $4)
          where endpoint_id = $1 and type = $2 and row_id = $3`,
        [endpointId, type, rowId, messageId],
      )
      return
    }
    // Of several that fail together, one counts.
    await client.query(
      `with moment as (select clock_timestamp() as at, 0.9 + random() / 5 as spread),
       next as (
         select id, at, at + interval '1 millisecond' * greatest($2, least($3 * power(2, least(failures, 10)), $4) * spread) as due_at,
                case when $5 then 'gone' when failing_since < at - interval '${failingDaysMax} days' then 'failing' end as stopped_because
           from webhook_endpoint, moment
          where id = $1)
       update webhook_endpoint e
          set failures = failures + case when e.due_at <= next.at then 1 else 0 end,
              due_at = greatest(e.due_at, next.due_at),
              failing_since = coalesce(failing_since, next.at),
              stopped_because = coalesce(e.stopped_because, next.stopped_because),
              stopped_at = coalesce(stopped_at, case when next.stopped_because is not null then next.at end)
         from next
        where e.id = next.id`,
      [endpointId, outcome.retryAfterMs ?? 0, backOffMs, endpointBackOffMaxMs, outcome.status === 410],
    )
    await client.query(
      `update webhook_delivery set claimed_until = null, attempts = $5, due_at = clock_timestamp() + $6 * interval '1 millisecond'
        where endpoint_id = $1 and type = $2 and row_id = $3 and message_id = $4`,
      [endpointId, type, rowId, messageId, attempts + 1, Math.min(backOffMs * 2 ** attempts, messageBackOffMaxMs)],
    )
    await client.query(
      `update webhook_delivery set claimed_until = null
        where endpoint_id = $1 and type = $2 and row_id = $3 and message_id is distinct from $4`,
      [endpointId, type, rowId, messageId],
    )
  })
}

/** Puts an attempt on record alone. */
export async function addAttempt(
  db: Queryable,
  endpointId: EndpointId,
  { type, rowId, messageId, sequence }: Pick<Attempt, 'type' | 'rowId' | 'messageId' | 'sequence'>,
  { durationMs, status, failure, answer }: Outcome,
): Promise<Attempt> {
  const { rows } = await db.query<RowOf<Attempt>>(
    `insert into webhook_attempt (endpoint_id, message_id, sequence, type, row_id, attempted_at, duration_ms, status, failure, answer)
     values ($1, $2, $3, $4, $5, clock_timestamp() - $6 * interval '1 millisecond', $6, $7, $8, $9)
     returning ${columns}`,
    [endpointId, messageId, sequence, type, rowId, durationMs, status, failure, answer],
  )
  if (!rows[0]) throw new Error('an attempt was not stored')
  return fromRow<Attempt>(rows[0])
}

/** The latest attempts at an endpoint, before one of them where that is given. */
export async function listAttempts(
  db: Queryable,
  endpointId: EndpointId,
  { before, limit }: { before: string | null; limit: number },
): Promise<Attempt[]> {
  const { rows } = await db.query<RowOf<Attempt>>(
    `select ${columns} from webhook_attempt where endpoint_id = $1 and id < $2 order by id desc limit $3`,
    [endpointId, before ?? '9223372036854775807', limit],
  )
  return rows.map((row) => fromRow<Attempt>(row))
}

/** An attempt at the endpoint. Throws Problem not_found. */
export async function requireAttempt(db: Queryable, endpointId: EndpointId, id: string): Promise<Attempt> {
  const [found] = /^\d{1,18}$/.test(id)
    ? await listAttempts(db, endpointId, { before: String(BigInt(id) + 1n), limit: 1 })
    : []
  if (found?.id !== id) throw new Problem('not_found')
  return found
}

const columns = 'id, message_id, sequence, type, row_id, attempted_at, duration_ms, status, failure, answer'
const keptDays = 7

/** Deletes attempts after seven days. */
export async function deleteOldAttempts(db: Queryable): Promise<void> {
  await db.query(`delete from webhook_attempt where attempted_at < clock_timestamp() - interval '${keptDays} days'`)
}
