import type { CpuClock } from '../cpu-time.ts'
import type { ListQuery } from '../fixture/list-query.ts'

/** Another server over the same records, by its own best practice. */
export type Peer = {
  who: string
  request: (locationId: string, query: ListQuery) => { url: string; headers: Record<string, string> }
  /** How many records an answer has. */
  countOf: (body: unknown) => number
  cpu: CpuClock
  stop: () => Promise<void>
}
