import { constants, PerformanceObserver, performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'

export type LoadWatch = {
  /** How late the event loop comes to its work, in ms: smoothed over some ten looks at it, so that a single long stretch counts little. */
  lagMs: () => number
  /** The share of the heap's limit that was in use after the last full collection, when that was a moment ago; else 0. */
  heapShare: () => number
  /** So late, by work of its own, that new work should be refused. */
  isLate: () => boolean
  /** The heap is so full that work of some megabytes should be refused. */
  isFull: () => boolean
  /** Does work of some size, for which background work steps back. */
  whileWorking: <T>(work: () => Promise<T>) => Promise<T>
  /** Whether such work is done now, or ended a moment ago: most often the next is on its way. */
  isWorking: () => boolean
  stop: () => void
}

/** Watches the event loop and the heap of this process: what would end it, or make everyone wait, can be refused before it begins. */
export function createLoadWatch({
  lagMaxMs = 250,
  /** A loop that also waits for events is late because other programs have the processor: refusing would help nobody. */
  busyMin = 0.9,
  heapShareMax = 0.75,
  everyMs = 50,
  /** Small work alone may not fill the heap to another collection: then large work is tried again, and causes one. */
  heapKnownMs = 5_000,
  /** One uploader sends its next upload some milliseconds after the last. */
  workedMs = 500,
} = {}): LoadWatch {
  let lag = 0
  let busy = 0
  let before = performance.eventLoopUtilization()
  let dueAt = performance.now() + everyMs
  const timer = setInterval(() => {
    const now = performance.now()
    const current = performance.eventLoopUtilization()
    lag += (Math.max(0, now - dueAt) - lag) / 5
    busy += (performance.eventLoopUtilization(current, before).utilization - busy) / 5
    before = current
    dueAt = now + everyMs
  }, everyMs).unref()

  let collected = { share: 0, at: Number.NEGATIVE_INFINITY }
  const collections = new PerformanceObserver((list) => {
    // Node's types leave out what an entry of this type tells.
    const entries = list.getEntries() as unknown as { detail: { kind: number } }[]
    const isFull = entries.some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)
    if (!isFull) return
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    collected = { share: used / limit, at: performance.now() }
  })
  collections.observe({ entryTypes: ['gc'] })

  let working = 0
  let workedAt = Number.NEGATIVE_INFINITY

  const heapShare = () => (performance.now() - collected.at < heapKnownMs ? collected.share : 0)
  return {
    lagMs: () => lag,
    heapShare,
    isLate: () => lag > lagMaxMs && busy > busyMin,
    isFull: () => heapShare() > heapShareMax,
    async whileWorking(work) {
      working += 1
      try {
        return await work()
      } finally {
        working -= 1
        workedAt = performance.now()
      }
    },
    isWorking: () => working > 0 || performance.now() - workedAt < workedMs,
    stop() {
      clearInterval(timer)
      collections.disconnect()
    },
  }
}
