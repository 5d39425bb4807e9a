import { randomBytes } from 'node:crypto'
import { sealKeyOf } from '@bridgework/server/src/modules/chain/seal-key.ts'
import { sealOnce } from '@bridgework/server/src/modules/chain/sealer.ts'
import pg from 'pg'
import { cpuClock, type PostgresProcesses } from './cpu-time.ts'

/** What sealing one disclosure costs in processor time, ours and PostgreSQL's; null where the system does not tell. */
export type SealingCost = { disclosures: number; cpuMsPerDisclosure: number | null }

/**
 * Seals a copy of every disclosure that the run has written, as the server's sealer does, and measures it. What was sealed in the run already
 * is sealed once more: the chain of a throw-away database begins anew.
 */
export async function measureSealing(ownerUrl: string, postgres: PostgresProcesses): Promise<SealingCost> {
  const pool = new pg.Pool({ connectionString: ownerUrl, max: 2 })
  try {
    await pool.query('truncate seal, practice_seal, practice_head, disclosed_day')
    const key = sealKeyOf({ sealSeed: randomBytes(32) })
    const used = cpuClock(() => [process.pid], postgres)
    const before = used()
    while ((await sealOnce({ pool, key: async () => key, now: () => new Date() })).isMore);
    const after = used()
    const { rows } = await pool.query<{ sealed: number }>('select sum(disclosures)::integer as sealed from seal')
    const disclosures = rows[0]?.sealed ?? 0
    return {
      disclosures,
      cpuMsPerDisclosure:
        before === null || after === null || disclosures === 0 ? null : (after - before) / disclosures,
    }
  } finally {
    await pool.end()
  }
}
