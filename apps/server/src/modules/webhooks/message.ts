import type { ChangeKind, DatasetName, webhookMessage } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { Static } from 'typebox'
import type { Queryable } from '../../platform/database/queryable.ts'
import { type CompanyId, type LocationId, parseNumericId } from '../../platform/identity/identity.ts'
import { currentEpoch } from '../agents/epoch.ts'
import { beforeAll, type ChangeRow, readChangeRows } from '../changes/change-rows.ts'
import { type RenderContext, renderChange } from '../changes/render-change.ts'
import { type Delivery, rowIdOf } from './delivery.ts'

/** The rows of these deliveries as they are now, by type and id. One that is missing is no longer there. */
export async function readRows(
  { pool, datasets }: { pool: Pool; datasets: readonly DatasetName[] },
  companyId: CompanyId,
  deliveries: readonly Delivery[],
): Promise<ReadonlyMap<string, ChangeRow>> {
  const { rows } = await readChangeRows(pool, {
    companyId,
    // Also those whose state is that an access or a key pair ended, which an answer without a cursor leaves out.
    since: 0,
    horizon: { restored: 0 },
    datasets,
    after: beforeAll,
    limit: rowsMax,
    kinds: deliveries.map(({ type }) => type),
    locationIds: deliveries.flatMap(({ rowId }) => parseNumericId<LocationId>(rowId.split('/')[0] ?? '') ?? []),
  })
  return new Map(rows.map((row) => [nameOf(row.kind, rowIdOf(row)), row]))
}

/** Those of a few locations, and a company's key pairs. */
const rowsMax = 5_000

export function nameOf(type: ChangeKind, rowId: string): string {
  return `${type} ${rowId}`
}

/** The body of a message, with the members that Standard Webhooks proposes: `data` is the row as /changes has it. */
export async function bodyOf(
  context: RenderContext & { pool: Queryable },
  row: ChangeRow,
  sequence: string,
  timestamp: Date,
): Promise<string> {
  return await inEnvelope(context.pool, row.kind, sequence, timestamp, await renderChange(context, row))
}

/** The body of a test. Its sequence is 0, because none of the endpoint's is used for it. */
export async function testBody(db: Queryable, timestamp: Date): Promise<string> {
  return await inEnvelope(db, 'test', '0', timestamp, { id: 'test', type: 'test', attributes: {} })
}

type Message = Static<typeof webhookMessage>

async function inEnvelope(db: Queryable, type: Message['type'], sequence: string, timestamp: Date, data: object) {
  const { rows } = await db.query<{ epoch: string }>(`select ${currentEpoch} as epoch`)
  if (!rows[0]) throw new Error('a database without an epoch')
  const { epoch } = rows[0]
  const message: Message = { type, timestamp: timestamp.toISOString(), sequence: Number(sequence), epoch }
  return JSON.stringify({ ...message, data })
}
