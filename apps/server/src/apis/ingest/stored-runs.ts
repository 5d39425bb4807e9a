import { hash } from 'node:crypto'
import type { StoredLookup } from '../../modules/records/as-stored.ts'
import type { StoredRun } from '../../modules/records/line-run.ts'
import { type LineRuns, lineFeed } from './lines.ts'
import { sourceIdAt, sourceIdEnd } from './source-line.ts'

/**
 * Knows runs of an upload by earlier ones that are stored. They are read by the key of the first line, and from then on by id before they are
 * needed: an agent sends records again in the order in which they came first. `taken` gets each, with the number of its first line.
 */
export function createStoredRuns(
  lookup: Pick<StoredLookup, 'readRuns'>,
  taken: (run: StoredRun, number: number) => void,
): LineRuns {
  /** By the keys of their first lines, in the order of ids. */
  const ahead = new Map<string, StoredRun>()
  let bytesAhead = 0
  let hasBegun = false
  let reading: Promise<void> | null = null
  let lastId: string | null = null
  /** How many more runs were found to be the same than to be others. */
  let same = 0

  const read = (from: Parameters<StoredLookup['readRuns']>[0], bytes: number) => {
    reading = lookup.readRuns(from, bytes).then((next) => {
      reading = null
      lastId = next.runs.length === 0 || same < 0 ? null : next.lastId
      for (const run of next.runs) {
        ahead.set(run.firstSourceId, run)
        bytesAhead += run.bytes
      }
      if (same > 0) readAhead()
    })
    // Thrown where it is awaited.
    reading.catch(() => {})
  }
  const readAhead = () => {
    if (lastId !== null && !reading && bytesAhead < bytesAheadMax) read({ afterId: lastId }, bytesAheadMax)
  }
  /** Runs may overlap: no two that have the same record are taken. */
  const leaveTo = (id: string) => {
    for (const [key, run] of ahead) {
      if (BigInt(run.firstId) > BigInt(id)) return
      ahead.delete(key)
      bytesAhead -= run.bytes
    }
  }

  return {
    bytesAt(bytes, from) {
      if (hasBegun && ahead.size === 0 && !reading) return 0
      const end = sourceIdEnd(bytes, from)
      if (end === -1) return 0
      const key = sourceIdAt(bytes, from, end)
      if (!hasBegun) {
        if (bytes.length - from < smallBytes) return 0
        hasBegun = true
        read({ sourceId: key }, firstBytes)
      }
      const bytesOf = () => ahead.get(key)?.bytes ?? 0
      return ahead.size === 0 && reading ? reading.then(bytesOf) : bytesOf()
    },
    take(bytes, from, number) {
      const run = ahead.get(sourceIdAt(bytes, from, sourceIdEnd(bytes, from)))
      if (!run) return 0
      const to = from + run.bytes
      const isEnded = to === bytes.length || bytes[to] === lineFeed
      const isSame = isEnded && hash('sha256', bytes.subarray(from, to)) === run.sha256
      leaveTo(isSame ? run.lastId : run.firstId)
      same += isSame ? 1 : -1
      if (same < othersMax) {
        lastId = null
        ahead.clear()
      }
      if (isSame) {
        taken(run, number)
        readAhead()
      }
      return isSame ? run.records : 0
    },
  }
}

/** Some ten records. A smaller upload most often has changed ones: to look them up would cost more than to read them. */
export const smallBytes = 16 * 1024
/** Enough to see whether runs are the same. */
const firstBytes = 256 * 1024
const bytesAheadMax = 512 * 1024
/** Where so many more runs are others than the same, lines are looked up by themselves. */
const othersMax = -2
