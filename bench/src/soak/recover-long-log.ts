import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom } from '@bridgework/practice-simulator'
import { runSql, type World } from '../world/practice.ts'
import { describeFaults, expectedOf, findFaults, isWhole } from './audit.ts'
import { inWorld } from './in-world.ts'
import { createBatches } from './kills/ingest-plan.ts'
import { killIfThere } from './kills/kill-postgres.ts'
import type { RowOptions } from './row.ts'
import { uploadAll } from './uploader.ts'

const batchSize = 5_000

/**
 * F28: SIGKILL of server and Postgres at one moment, after so many uploads that their log is as long as it gets. Ready again within 5 s, with
 * everything that was acknowledged.
 */
export async function recoverLongLog({ plans, seed }: RowOptions, { readyWithinMs = 5_000 } = {}): Promise<string> {
  return inWorld({ locations: 1 }, async (world) => {
    const { acknowledged } = await uploadAll(world, createBatches(plans, batchSize, createRandom(seed)))
    const [log] = await runSql<{ megabytes: number }>(
      world.adminUrl,
      'select (pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn) / 1048576)::int as megabytes from pg_control_checkpoint()',
    )
    const begunAt = performance.now()
    // Postgres last: nothing may be left that could end in an orderly way.
    await world.server.kill()
    for (const pid of world.server.postgresPids()) killIfThere(pid)
    await world.server.start()
    const readyMs = Math.round(performance.now() - begunAt)
    const measured = `${log?.megabytes} MB of log, ready again after ${readyMs} ms (${phasesOf(world)})`
    const faults = await findFaults(world, expectedOf(acknowledged))
    assert.ok(isWhole(faults), describeFaults(faults))
    assert.ok(readyMs < readyWithinMs, measured)
    return measured
  })
}

/** How long Postgres took for what it does before it serves again, by the times in its own log. */
function phasesOf({ server }: World): string {
  const lines = readFileSync(join(server.dataDir, 'postgres.log'), 'utf8').split('\n')
  const at = (text: string) => Date.parse(`${lines.findLast((line) => line.includes(text))?.slice(0, 23)}Z`)
  const moments = ['was interrupted', 'redo starts', 'redo done', 'ready to accept connections'].map(at)
  return ['files to disk', 'replay', 'checkpoint']
    .map((phase, index) => `${phase} ${(moments[index + 1] ?? 0) - (moments[index] ?? 0)} ms`)
    .join(', ')
}
