import { createRandom } from '@bridgework/practice-simulator'
import { runSql, type World } from '../world/practice.ts'
import { describeFaults, type ExpectedPlans, expectedOf, type Faults, findFaults } from './audit.ts'
import { inWorld } from './in-world.ts'
import { createBatches } from './kills/ingest-plan.ts'
import { killIfThere } from './kills/kill-postgres.ts'
import type { RowOptions } from './row.ts'
import { uploadAll } from './uploader.ts'

/**
 * F05, the negative control: with commits that are acknowledged before they are durable, and Postgres killed right after an
 * acknowledgement, the audit of the other rows must find a loss. Were it not to, it would prove nothing in them either.
 */
export async function auditFindsLoss({ seed }: RowOptions): Promise<string> {
  return inWorld({ locations: 1 }, async (world) => {
    await acknowledgeEarly(world)
    const batches = createBatches(400, 20, createRandom(seed))
    let isKilled = false
    const record = await uploadAll(world, batches, {
      beforeSending: ({ number }) => {
        if (number < batches.length) return
        isKilled = true
        // All before this one are acknowledged, and none of them waited for the disk.
        for (const pid of world.server.postgresPids()) killIfThere(pid)
      },
      stopped: () => isKilled,
    })
    const faults = await auditWhenBack(world, expectedOf(record.acknowledged))
    if (faults.lost.length === 0)
      throw new Error('nothing was lost, though nothing was durable: the audit cannot see a loss')
    return `${record.acknowledged.length} uploads acknowledged, then: ${describeFaults(faults)}`
  })
}

/** In each transaction of an upload, because the server sets it in every session; the log is written out as late as can be. */
async function acknowledgeEarly(world: World): Promise<void> {
  await runSql(
    world.adminUrl,
    `create function acknowledge_early() returns trigger language plpgsql
         as $$ begin perform set_config('synchronous_commit', 'off', true); return null; end $$`,
  )
  await runSql(
    world.adminUrl,
    'create trigger acknowledge_early after insert on upload for each statement execute function acknowledge_early()',
  )
  await runSql(world.adminUrl, `alter system set wal_writer_delay = '10s'`)
  await runSql(world.adminUrl, 'select pg_reload_conf()')
}

async function auditWhenBack(world: World, expected: ExpectedPlans): Promise<Faults> {
  const until = performance.now() + 30_000
  for (;;) {
    try {
      return await findFaults(world, expected)
    } catch (error) {
      if (performance.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}
