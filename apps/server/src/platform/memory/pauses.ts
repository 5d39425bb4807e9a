import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Longer than this no work keeps the event loop from others: requests, and a statement whose bytes PostgreSQL waits for. A socket takes some 200 KB
 * at once, which PostgreSQL stores in 3 ms.
 */
const turnMs = 0.5

/** As `list.map(make)`, with pauses in which the process serves others. */
export async function mapWithPauses<From, To>(list: readonly From[], make: (value: From) => To): Promise<To[]> {
  const made: To[] = []
  let begun = performance.now()
  for (const value of list) {
    made.push(make(value))
    if (performance.now() - begun < turnMs) continue
    await nextTurn()
    begun = performance.now()
  }
  return made
}
