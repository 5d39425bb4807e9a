import type { Step } from './loop.ts'

/**
 * A step of a loop that goes over everything with an id, some at each run, so that a run costs the same however many there are; it begins again after the
 * last one. A run goes over each at most once. `list`: at most `limit` ids after this one, rising. Begins anywhere: a process that is often started again
 * would otherwise look at the same ones each time.
 */
export function inSlices<Id extends string>(
  list: (after: Id, limit: number) => Promise<Id[]>,
  work: (ids: readonly Id[]) => Promise<unknown>,
  atOnce = 1_000,
): Step {
  // Ids are below 2^53.
  let after = String(Math.floor(Math.random() * 2 ** 53)) as Id
  return async () => {
    const ids = await list(after, atOnce)
    const rest = atOnce - ids.length
    const first = rest > 0 ? await list('0' as Id, rest) : []
    const all = [...new Set([...ids, ...first])]
    if (all.length > 0) await work(all)
    after = all.at(-1) ?? ('0' as Id)
  }
}
