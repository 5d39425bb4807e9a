import type { TestWorld } from '../../../testing/test-world.ts'
import { eventually } from './test-answer.ts'

/**
 * Sends requests and holds them in flight, each with its slot, where they wait for a locked table. `release` lets them go on and gives
 * their answers; so does the end of the block, also when the test failed. `slots`: how many are taken then.
 */
export async function holdInFlight<T>(world: TestWorld, requests: (() => Promise<T>)[], slots: number) {
  const client = await world.ownerPool.connect()
  await client.query('begin; lock table record in access exclusive mode')
  let isLocked = true
  const release = async () => {
    if (isLocked) {
      isLocked = false
      await client.query('rollback')
      client.release()
    }
    return await answers
  }
  const answers = Promise.all(requests.map((request) => request()))
  const held = {
    release,
    async [Symbol.asyncDispose]() {
      await release()
    },
  }
  try {
    await eventually(async () => (await slotsTaken(world)) === slots, 10_000, `${slots} slots are taken`)
  } catch (error) {
    await release()
    throw error
  }
  return held
}

/** Statements that wait for the locked table. A slot is taken before its request has sent the one that waits. */
export async function readsWaiting(world: TestWorld): Promise<number> {
  const { rows } = await world.ownerPool.query<{ waiting: number }>(
    `select count(*)::int as waiting from pg_locks where relation = 'record'::regclass and not granted`,
  )
  return rows[0]?.waiting ?? 0
}

/** Locations in flight, of all companies, types and processes. */
export async function slotsTaken(world: TestWorld): Promise<number> {
  const { rows } = await world.pool.query<{ taken: number }>(
    `select count(distinct (company_id, sync_type, location_id))::int as taken
       from sync_slot
      where expires_at > clock_timestamp()`,
  )
  return rows[0]?.taken ?? 0
}
