import type { Pool } from 'pg'

/** Asks `pool`'s database, together with what others ask in the same turn of the event loop. */
export type AskTogether<Asked, Answer> = (pool: Pool, asked: Asked) => Promise<Answer>

/**
 * Requests that arrive in one turn of the event loop ask in one statement, at most 32 in each, which leaves after the turn: none is answered
 * from a moment before it arrived, and none waits for the statement of another. `send` answers each of a batch, in its order.
 */
export function askTogether<Asked, Answer>(
  send: (pool: Pool, batch: readonly Asked[]) => Promise<readonly Answer[]>,
): AskTogether<Asked, Answer> {
  type Waiting = { asked: Asked; resolve: (answer: Answer) => void; reject: (error: unknown) => void }
  const waitingOf = new WeakMap<Pool, Waiting[]>()

  const ask = async (pool: Pool, batch: readonly Waiting[]) => {
    try {
      const answers = await send(
        pool,
        batch.map(({ asked }) => asked),
      )
      if (answers.length !== batch.length) throw new Error(`${answers.length} answers for ${batch.length} requests`)
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (pool, asked) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const batch = waitingOf.get(pool) ?? []
    batch.push({ asked, resolve, reject })
    if (batch.length === 1) {
      waitingOf.set(pool, batch)
      setImmediate(() => {
        waitingOf.delete(pool)
        for (let start = 0; start < batch.length; start += togetherMax)
          void ask(pool, batch.slice(start, start + togetherMax))
      })
    }
    return promise
  }
}

const togetherMax = 32
