import { limits } from '@bridgework/contract'
import { pick, type SentHashes, type StoredLookup } from '../../modules/records/as-stored.ts'
import { hashSource } from '../../modules/records/document.ts'
import type { StoredRun } from '../../modules/records/line-run.ts'
import type { UploadLine } from '../../modules/records/upload.ts'
import { giveBack } from '../../platform/memory/own-bytes.ts'
import { mapWithPauses } from '../../platform/memory/pauses.ts'
import { endsMemory } from './body.ts'
import { type LineBounds, textOf } from './lines.ts'
import { invalid, type ReadLine } from './record-line.ts'
import { createSentRuns, type Line } from './sent-runs.ts'
import { attributesOf, lineOf, sourceIdAt, sourceIdEnd } from './source-line.ts'
import { createStoredRuns, smallBytes } from './stored-runs.ts'

export const lineBounds: LineBounds = {
  linesMax: limits.uploadLinesMax,
  lineBytesMax: limits.uploadLineBytesMax,
  depthMax: limits.uploadLineDepthMax,
  membersMax: limits.uploadLineMembersMax,
}

/**
 * Reads the lines of one upload, some hundred at a time. Throws as `readLine` does, of the first bad line, or when two lines have one source id.
 * Runs that are stored just so are known by the hash of their bytes, other lines by their own, and not read. Where most lines of a part are
 * others, those after it are not looked up: new records would only cost more. Nor is a small upload, whose lines most often have changed: to read
 * them costs less than to ask.
 */
export function createUploadReader(readLine: ReadLine, lookup: Omit<StoredLookup, 'findBody'>) {
  const seen = createSeen()
  const lines: UploadLine[] = []
  const sent: SentHashes[] = []
  const sentRuns = createSentRuns()
  let isLookedUp = true
  let part = startPart()
  let reading = Promise.resolve()

  const readPart = async ({ entries, bytes, sourceIds, hashes, pieces }: Part) => {
    const asked = { sourceIds, hashes: hashes.join('') }
    const isSmall = entries[0]?.number === 1 && bytes < smallBytes
    const isAsked = isLookedUp && sourceIds.length > 0 && !isSmall
    const other = isAsked ? await lookup.findOther(asked) : none
    const places: number[] = []
    const read: UploadLine[] = []
    let known = 0
    await mapWithPauses(entries, (entry) => {
      const { number } = entry
      if ('run' in entry) {
        seen.run(entry.run, number)
        sentRuns.take(entry.run)
        known += entry.run.records
        return
      }
      const { bytes, place } = entry
      if (isAsked && place !== null && !other.has(place)) {
        const sourceId = sourceIds[place] ?? ''
        places.push(place)
        seen.line(sourceId, number)
        sentRuns.add(entry, sourceId, hashes[place] ?? '')
        return
      }
      const text = textOf(bytes, number, lineBounds)
      const line = readLine(text, number)
      seen.line(line.sourceId, number)
      if (line.source !== null && text === lineOf(line.sourceId, line.source)) {
        const hash = hashSource(line.source)
        read.push({ sourceId: line.sourceId, source: line.source, hash })
        sentRuns.add(entry, line.sourceId, hash)
      } else {
        read.push(line)
        sentRuns.pass()
      }
    })
    sentRuns.flush()
    for (const line of read) lines.push(line)
    if (places.length > 0) sent.push(other.size === 0 ? asked : pick(asked, places))
    isLookedUp &&= places.length + known > read.length
    for (const piece of pieces) giveBack(piece)
  }
  /** One part is looked up while the next arrives; nothing arrives while a line of some megabytes is read. */
  const endPart = async () => {
    const ended = part
    part = startPart()
    await reading
    reading = readPart(ended)
    // Thrown where it is awaited.
    reading.catch(() => {})
    if (ended.bytes > 2 * partBytesMax) await reading
  }

  return {
    take(bytes: Buffer, number: number, within = bytes): Promise<void> | undefined {
      const sent = isLookedUp ? hashOf(bytes) : null
      part.entries.push({ bytes, within, number, place: sent && part.sourceIds.length })
      if (sent) {
        part.sourceIds.push(sent.sourceId)
        part.hashes.push(sent.hash)
      }
      part.bytes += bytes.length
      const isFirst = part.entries[0]?.number === 1
      return part.bytes < (isFirst ? firstPartBytes : partBytesMax) ? undefined : endPart()
    },
    runs: createStoredRuns(lookup, (run, number) => {
      part.entries.push({ run, number })
      part.bytes += run.bytes
    }),
    /** Call it with each piece of the body once all lines that end in it were taken: its memory is given back when they were read. */
    passed(piece: Buffer): Promise<void> | undefined {
      // Other pieces may still come in the same memory.
      if (endsMemory(piece)) part.pieces.push(piece)
      return part.bytes < partBytesMax ? undefined : endPart()
    },
    /** The upload. `allRuns`: where it is nothing but runs, all of them in its order. */
    async end() {
      await endPart()
      await reading
      const { known, sent: runs, all: allRuns } = sentRuns.ended()
      return { lines, asStored: { sent, runs: known, stamp: lookup.stamp }, runs, allRuns }
    },
  }
}

/** Refuses a source id that comes twice. Keys of runs are looked at only where there are other lines too: no two runs have the same record. */
function createSeen() {
  const seen = new Set<string>()
  const runs: [run: StoredRun, number: number][] = []
  const see = (sourceId: string, number: number) => {
    const errors = 'source_id is also in an earlier line of this upload.'
    if (seen.has(sourceId)) throw invalid(number, { field: 'source_id', errors })
    seen.add(sourceId)
  }
  const seeRuns = () => {
    for (const [{ sourceIds }, first] of runs.splice(0)) {
      for (const [index, sourceId] of sourceIds.split('\n').entries()) see(sourceId, first + index)
    }
  }
  return {
    line(sourceId: string, number: number): void {
      if (runs.length > 0) seeRuns()
      see(sourceId, number)
    },
    run(run: StoredRun, number: number): void {
      runs.push([run, number])
      if (seen.size > 0) seeRuns()
    },
  }
}

/** `sourceIds` and `hashes`: of the lines that are looked up. `pieces`: of the body, in which no later line is. */
type Part = { entries: Entry[]; bytes: number; sourceIds: string[]; hashes: string[]; pieces: Buffer[] }

function startPart(): Part {
  return { entries: [], bytes: 0, sourceIds: [], hashes: [], pieces: [] }
}

/** A line, or lines that are known. `place`: among those that are looked up; null where it is not. */
type Entry = (Line & { number: number; place: number | null }) | { run: StoredRun; number: number }

const none: ReadonlySet<number> = new Set()

/** Enough to see whether most lines are stored just so. */
const firstPartBytes = 64 * 1024
const partBytesMax = 512 * 1024

/** The key, and the hash of the attributes' text, of a line as our agent writes it; null of any other, which is read. */
function hashOf(line: Buffer): { sourceId: string; hash: string } | null {
  const end = sourceIdEnd(line, 0)
  if (end === -1 || line[line.length - 1] !== closeBrace) return null
  return { sourceId: sourceIdAt(line, 0, end), hash: hashSource(attributesOf(line, end)) }
}

const closeBrace = 0x7d
