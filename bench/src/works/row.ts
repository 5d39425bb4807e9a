/** Every work in the order in which they are done. A new one is a file beside this one and its line in `works.ts`. */
export const workNames = [
  'page',
  'page-100',
  'delta',
  'export',
  'token',
  'sealing',
  'growth',
  'ingest',
  'first-sync',
  'five-syncs',
] as const
export type WorkName = (typeof workNames)[number]

/** One line of the results: somebody did something, so often in a second. */
export type Row = {
  work: WorkName
  /** What was asked for. */
  name: string
  who: string
  connections: number
  /** Of requests; of records where the work is one of records. */
  perSecond: number
  /** Processor time of server and Postgres for one request, or for a thousand records; null where the system does not tell. */
  cpuMs: number | null
  /** Of one answer. */
  bytes: number | null
  /** How many times as fast Bridgework was, the median of the rounds; null where there is nothing to compare. */
  ratio: number | null
  /** How many times as much processor time this one took as Bridgework, the median of the rounds; null where there is nothing to compare. */
  cpuRatio?: number | null
  /** By how much of its median the rate of one that is not Bridgework differed from round to round. */
  spread?: number
  /** The ratio by processor time, or the memory, that is asked for. */
  target: number | null
  /** Records of the location, where that is what changes. */
  records?: number
  /** The most that the server held, in MB. */
  memoryMb?: number
  /** Processor time of the client, in ms. */
  clientCpuMs?: number
}

export const ours = 'Bridgework'
export const earlierOurs = 'Bridgework, the other checkout'
export const byHand = 'hand-written'

/** By processor time, against the other checkout. */
export const againstEarlier = 0.95
