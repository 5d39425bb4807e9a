import type { Pool, PoolClient } from 'pg'

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

/**
 * Asks with one statement at a time, on a connection that is held meanwhile. What arrives while it is under way asks together in the next one, which
 * leaves before the answers of the last are handed out: so PostgreSQL works while this process does. Resolves with null, so that the caller asks in
 * another way, where a statement fails or keeps others waiting for longer than `patienceMs`. `send` answers each of a batch, in its order.
 */
export function askInTurn<Asked, Answer>(
  pool: Pool,
  send: (client: PoolClient, batch: readonly Asked[]) => Promise<readonly Answer[]>,
  { patienceMs, onFailure }: { patienceMs: number; onFailure: (error: unknown) => void },
): (asked: Asked) => Promise<Answer | null> {
  type Waiting = { asked: Asked; resolve: (answer: Answer | null) => void }
  const waiting: Waiting[] = []
  let isRunning = false
  let isLate = false

  const giveUpWaiting = () => {
    isLate = true
    for (const { resolve } of waiting.splice(0)) resolve(null)
  }

  const run = async () => {
    let underWay: Waiting[] = []
    let client: PoolClient | undefined
    let hasFailed = false
    const patience = setTimeout(giveUpWaiting, patienceMs)
    const sendNext = async (client: PoolClient) => {
      underWay = waiting.splice(0, togetherMax)
      isLate = false
      patience.refresh()
      return underWay.length === 0
        ? []
        : await send(
            client,
            underWay.map(({ asked }) => asked),
          )
    }
    try {
      client = await pool.connect()
      let sent = sendNext(client)
      while (underWay.length > 0) {
        const answers = await sent
        const answered = underWay
        sent = sendNext(client)
        for (const [index, { resolve }] of answered.entries()) resolve(answers[index] ?? null)
      }
    } catch (error) {
      hasFailed = true
      onFailure(error)
      for (const { resolve } of [...underWay, ...waiting.splice(0)]) resolve(null)
    } finally {
      clearTimeout(patience)
      isRunning = false
      isLate = false
      client?.release(hasFailed)
    }
  }

  return (asked) => {
    if (isLate) return Promise.resolve(null)
    const { promise, resolve } = Promise.withResolvers<Answer | null>()
    waiting.push({ asked, resolve })
    if (!isRunning) {
      isRunning = true
      // After the turn of the event loop, so that all that arrives in it asks together.
      setImmediate(() => void run())
    }
    return promise
  }
}

const togetherMax = 32
