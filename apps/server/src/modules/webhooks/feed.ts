import { type DatasetName, limits } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { beforeAll, type Place, readChangeRows } from '../changes/change-rows.ts'
import { type Horizon, readHorizon } from '../changes/horizon.ts'
import { findNews } from '../changes/news.ts'
import type { Stamp } from '../datasets/stamp.ts'
import { addDeliveries, deleteDone } from './delivery.ts'
import { listCompaniesWithEndpoints } from './endpoint.ts'

/** Finds what endpoints must be told. */
export type ChangeFeed = {
  /** Notes everything that was committed since the last time. */
  look: () => Promise<void>
}

const overlap = limits.changesOverlapMs * 1000
const pageRows = 2_000

/**
 * Reads changes as /changes does, for all companies with endpoints together: by a cursor that is moved when all is noted, so a process that dies
 * loses nothing, and two at once note the same. A look asks for what is later than the last look; every `sweepEveryMs`, and when there is something, it
 * asks from the cursor less the overlap, and moves the cursor (docs/decisions/webhooks.md).
 */
export function createChangeFeed(deps: {
  pool: Pool
  datasets: readonly DatasetName[]
  sweepEveryMs?: number
}): ChangeFeed {
  const { pool, sweepEveryMs = 10_000 } = deps
  let seenUntil: Stamp | null = null
  let sweptAtMs = Number.NEGATIVE_INFINITY
  return {
    async look() {
      const companyIds = await listCompaniesWithEndpoints(pool)
      if (companyIds.length === 0) return
      const horizon = await readHorizon(pool)
      const cursor = await readCursor(pool, horizon)
      const isKnown = cursor.epoch === horizon.epoch && cursor.until <= horizon.clock + overlap
      if (isKnown && seenUntil !== null && performance.now() - sweptAtMs < sweepEveryMs) {
        const news = await findNews(pool, { companyIds, since: seenUntil, restored: horizon.restored })
        if (news.size === 0) {
          seenUntil = Math.max(seenUntil, horizon.stamp)
          return
        }
      }
      const since = isKnown ? Math.max(0, cursor.until - overlap) : null
      const changed =
        since === null ? companyIds : (await findNews(pool, { companyIds, since, restored: horizon.restored })).keys()
      for (const companyId of changed) await noteChanges(deps, companyId, horizon, since)
      await moveCursor(pool, cursor, { epoch: horizon.epoch, until: horizon.stamp })
      await deleteDone(pool, horizon.stamp - overlap)
      seenUntil = horizon.stamp
      sweptAtMs = performance.now()
    },
  }
}

async function noteChanges(
  { pool, datasets }: { pool: Pool; datasets: readonly DatasetName[] },
  companyId: CompanyId,
  horizon: Horizon,
  since: Stamp | null,
): Promise<void> {
  for (let after: Place | undefined = beforeAll; after !== undefined; ) {
    const page: Awaited<ReturnType<typeof readChangeRows>> = await readChangeRows(pool, {
      ...{ companyId, horizon, since, datasets, after },
      limit: pageRows,
    })
    await addDeliveries(pool, companyId, page.rows, { isWhole: since === null })
    after = page.hasMore ? page.rows.at(-1)?.place : undefined
  }
}

type Cursor = { epoch: string; until: Stamp }

/** The first time, it begins now. */
async function readCursor(db: Queryable, { epoch, stamp }: Horizon): Promise<Cursor> {
  const { rows } = await db.query<{ epoch: string; until: string }>('select epoch, until from webhook_cursor')
  if (rows[0]) return { epoch: rows[0].epoch, until: Number(rows[0].until) }
  await db.query('insert into webhook_cursor (epoch, until) values ($1, $2) on conflict do nothing', [epoch, stamp])
  return { epoch, until: stamp }
}

/** Not where another process has moved it meanwhile. */
async function moveCursor(db: Queryable, from: Cursor, to: Cursor): Promise<void> {
  await db.query('update webhook_cursor set epoch = $3, until = $4 where epoch = $1 and until = $2', [
    from.epoch,
    from.until,
    to.epoch,
    to.until,
  ])
}
