import type { Pool } from 'pg'

/** Asks `pool`'s database, together with what others ask in the same turn of the event loop. */
export type AskTogether<Asked, Answer> = (pool: Pool, asked: Asked) => Promise<Answer>

/**
 * Requests that arrive in one turn of the event loop ask in one statement, at most 32 in each, which leaves after the turn: none is answered
 * from a moment before it arrived, and none waits for the statement of another. While no statement is under way, the first four leave at once,
 * so that PostgreSQL works for them while this process reads the others of the turn. `send` answers each of a batch, in its order.
 */
export function askTogether<Asked, Answer>(
  send: (pool: Pool, batch: readonly Asked[]) => Promise<readonly Answer[]>,
): AskTogether<Asked, Answer> {
  type Waiting = { asked: Asked; resolve: (answer: Answer) => void; reject: (error: unknown) => void }
  const waitingOf = new WeakMap<Pool, Waiting[]>()
  const underWay = new WeakMap<Pool, number>()

  const ask = async (pool: Pool, batch: readonly Waiting[]) => {
    underWay.set(pool, (underWay.get(pool) ?? 0) + 1)
    try {
      const answers = await send(
        pool,
        batch.map(({ asked }) => asked),
      )
      if (answers.length !== batch.length) throw new Error(`${answers.length} answers for ${batch.length} requests`)
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      underWay.set(pool, (underWay.get(pool) ?? 1) - 1)
    }
  }

  return (pool, asked) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const batch = waitingOf.get(pool) ?? []
    batch.push({ asked, resolve, reject })
    const leave = () => {
      if (waitingOf.get(pool) !== batch) return
      waitingOf.delete(pool)
      for (let start = 0; start < batch.length; start += togetherMax)
        void ask(pool, batch.slice(start, start + togetherMax))
    }
    if (batch.length === 1) {
      waitingOf.set(pool, batch)
      setImmediate(leave)
    } else if (batch.length === atOnce && !underWay.get(pool)) leave()
    return promise
  }
}

const atOnce = 4
const togetherMax = 32
