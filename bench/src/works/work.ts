import type { LoadClient } from '../client/load.ts'
import type { BenchOptions } from '../command-line.ts'
import type { ReadingFixture } from '../fixture/reading.ts'
import type { Uploads } from '../fixture/uploads.ts'
import type { World } from '../world/practice.ts'
import type { Row } from './row.ts'

/** What every work is given. */
export type Bench = {
  options: BenchOptions
  client: LoadClient
  say: (text: string) => void
  world: World
  uploads: Uploads
  /** The same of the other checkout. */
  earlier: Uploads | null
  /** A location to read with its packed segments, and all who can be asked for it. Filled when it is asked for first. */
  reading: () => Promise<ReadingFixture>
}

export type Work = (bench: Bench) => Promise<Row[]>

/** Which of a world's locations are whose: the first is read, the next grows, six are synced, and the rest are uploaded to. */
export const growingLocation = 1
export const firstSyncLocation = 2
export const firstIngestLocation = 8

/** So many locations are enough for so many rounds. */
export function locationsNeeded(rounds: number): number {
  return firstIngestLocation + 9 * rounds
}
