import type { Pool } from 'pg'
import { diskOf } from '../../platform/disk/disk-of.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { createLoop } from '../../platform/loop/loop.ts'
import type { LoadWatch } from '../../platform/memory/load-watch.ts'
import { addServiceMinute, type ServiceMinute } from './service-minute.ts'

export type Sampler = {
  /** Measures once and writes it. */
  sample: () => Promise<void>
  /** Measures every minute until stopped. */
  start: () => void
  stop: () => Promise<void>
}

/** What of the installation other modules know. */
type Backlog = Pick<ServiceMinute, 'slots_in_use' | 'database_bytes' | 'rerender_waiting' | 'mails_waiting'>

/**
 * Writes each minute how this process does and how much work waits. `dir`: a folder on
 * the disk whose free space counts.
 */
export function createSampler(deps: {
  pool: Pool
  pools: readonly Pool[]
  load: Pick<LoadWatch, 'lagMs'>
  processId: string
  dir: string
  backlog: () => Promise<Backlog>
  now: () => Date
  log: Log
}): Sampler {
  const { pool, pools, load, now, log } = deps
  let lagMaxMs = 0

  const sample = async () => {
    const at = now()
    const minuteMs = Math.floor(at.getTime() / 60_000) * 60_000
    const lag = Math.max(lagMaxMs, load.lagMs())
    lagMaxMs = 0
    const sum = (of: (each: Pool) => number) => pools.reduce((total, each) => total + of(each), 0)
    const [backlog, disk] = await Promise.all([deps.backlog(), diskOf(deps.dir)])
    await addServiceMinute(pool, {
      minute_at: new Date(minuteMs),
      process_id: deps.processId,
      event_loop_lag_ms: Math.round(lag * 10) / 10,
      memory_bytes: process.memoryUsage.rss(),
      connections_busy: sum((each) => each.totalCount - each.idleCount),
      connections_waited_for: sum((each) => each.waitingCount),
      connections_max: sum((each) => each.options.max),
      disk_free_bytes: disk.bavail * disk.bsize,
      ...backlog,
    })
  }

  const noteLag = () => {
    lagMaxMs = Math.max(lagMaxMs, load.lagMs())
  }
  const loops = [
    createLoop({ steps: { 'measure the event loop': noteLag }, everyMs: 1_000, log }),
    createLoop({ steps: { 'measure the service': sample }, everyMs: 60_000, log }),
  ]

  return {
    sample,
    start() {
      for (const loop of loops) loop.start()
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}
