import { Difference } from './difference.ts'
import type { ModelLocation } from './model.ts'
import type { World } from './world.ts'

/**
 * Returns when nothing is under way at a location: a transaction of a killed process may still end, and background work may be due. What is true
 * then stays true until the next step.
 */
export async function settle(world: World, location: ModelLocation): Promise<void> {
  const until = performance.now() + 120_000
  for (;;) {
    try {
      await world.ownerPool.query('select from dataset_state where location_id = $1 order by dataset for update', [
        location.id,
      ])
      const { rowCount } = await world.ownerPool.query(
        `select from rerender_work where location_id = $1
          union all select from note_removal where location_id = $1
          union all select from removal where location_id = $1 and state in ('running', 'requested')`,
        [location.id],
      )
      if (rowCount === 0) return
    } catch (error) {
      if (!isBroken(error)) throw error
    }
    if (world.failure !== null) throw world.failure
    if (performance.now() > until) throw new Difference(location.id, 'background work is not done after two minutes')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Does something with the database, again until it is not broken off. */
export async function persist<T>(world: World, work: (isAgain: boolean) => Promise<T>): Promise<T> {
  for (let isAgain = false; ; isAgain = true) {
    try {
      return await work(isAgain)
    } catch (error) {
      if (!isBroken(error)) throw error
      if (world.failure !== null) throw world.failure
      world.counts.retries += 1
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** Of a database that was killed, or of one that recovers. */
function isBroken(error: unknown): boolean {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  return (
    /^(57P|08|ECONN|EPIPE|ENOENT|busy$|unavailable$)/.test(code) ||
    /terminated|timeout|closed|connection/i.test(message)
  )
}
