/**
 * Works on the items of several lists, at most `atOnce` of each list at once. The first error stops the others, through the signal that `work` is given, and is
 * thrown when all have stopped: nothing goes on behind the caller's back.
 */
export async function inParallel<Item>(
  signal: AbortSignal | undefined,
  work: (item: Item, signal: AbortSignal) => Promise<void>,
  lists: readonly { items: readonly Item[]; atOnce: number }[],
): Promise<void> {
  signal?.throwIfAborted()
  const stop = new AbortController()
  const passOn = () => stop.abort(signal?.reason)
  signal?.addEventListener('abort', passOn, { once: true })
  let first: { error: unknown } | null = null
  const worker = async (queue: Item[]) => {
    for (let item = queue.shift(); item !== undefined && !stop.signal.aborted; item = queue.shift()) {
      try {
        await work(item, stop.signal)
      } catch (error) {
        first ??= { error }
        stop.abort(error)
      }
    }
  }
  try {
    await Promise.all(
      lists.flatMap(({ items, atOnce }) => {
        const queue = [...items]
        return Array.from({ length: Math.min(atOnce, items.length) }, () => worker(queue))
      }),
    )
  } finally {
    signal?.removeEventListener('abort', passOn)
  }
  signal?.throwIfAborted()
  if (first) throw (first as { error: unknown }).error
}
