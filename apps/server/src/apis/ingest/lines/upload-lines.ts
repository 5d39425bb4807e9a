import { limits } from '@bridgework/contract'
import { pick, type SentHashes, type StoredLookup } from '../../../modules/records/write/as-stored.ts'
import { hashSource } from '../../../modules/records/write/document.ts'
import { hashRecords, type SentRecords } from '../../../modules/records/write/packed-body.ts'
import type { UploadLine } from '../../../modules/records/write/upload.ts'
import { mapWithPauses } from '../../../platform/memory/pauses.ts'
import { type LineBounds, textOf } from './lines.ts'
import { invalid, type ReadLine } from './record-line.ts'
import { lineOf, partsOf } from './source-line.ts'

export const lineBounds: LineBounds = {
  linesMax: limits.uploadLinesMax,
  lineBytesMax: limits.uploadLineBytesMax,
  depthMax: limits.uploadLineDepthMax,
  membersMax: limits.uploadLineMembersMax,
}

/**
 * Reads the lines of one upload, some hundred at a time. Throws as `readLine` does, of the first bad line, or when two lines have one source id.
 * Lines that are stored just so are known by the hash of their bytes, and not read. Where most lines of a part are others, those after it are
 * not looked up: new records would only cost more. Nor is a small upload, whose lines most often have changed: to read them costs less than to ask.
 */
export function createUploadReader(readLine: ReadLine, lookup: Omit<StoredLookup, 'findBody'>) {
  /** In the order of the lines. */
  const seen = new Set<string>()
  const lines: UploadLine[] = []
  const sent: SentHashes[] = []
  const allHashes: string[] = []
  let allBytes = 0
  let isLookedUp = true
  let part = startPart()
  let reading = Promise.resolve()

  const see = (sourceId: string, number: number) => {
    const errors = 'source_id is also in an earlier line of this upload.'
    if (seen.has(sourceId)) throw invalid(number, { field: 'source_id', errors })
    seen.add(sourceId)
  }
  const readPart = async ({ lines: taken, bytes, sourceIds, hashes }: Part) => {
    const asked = { sourceIds, hashes: hashes.join('') }
    const isSmall = taken[0]?.number === 1 && bytes < smallBytes
    const isAsked = isLookedUp && sourceIds.length > 0 && !isSmall
    const other = isAsked ? await lookup.findOther(asked) : none
    const places: number[] = []
    await mapWithPauses(taken, ({ bytes, number, place }) => {
      if (isAsked && place !== null && !other.has(place)) {
        places.push(place)
        see(sourceIds[place] ?? '', number)
        allHashes.push(hashes[place] ?? '')
        return
      }
      const text = textOf(bytes, number, lineBounds)
      const line = readLine(text, number)
      see(line.sourceId, number)
      if (line.source !== null && text === lineOf(line.sourceId, line.source)) {
        const hash = hashSource(line.source)
        allHashes.push(hash)
        lines.push({ sourceId: line.sourceId, source: line.source, hash })
      } else lines.push(line)
    })
    if (places.length > 0) sent.push(other.size === 0 ? asked : pick(asked, places))
    isLookedUp &&= places.length > taken.length / 2
  }
  /** One part is looked up while the next arrives; nothing arrives while a line of some megabytes is read. */
  const endPart = async () => {
    const ended = part
    part = startPart()
    allBytes += ended.bytes
    await reading
    reading = readPart(ended)
    // Thrown where it is awaited.
    reading.catch(() => {})
    if (ended.bytes > 2 * partBytesMax) await reading
  }
  /** Null where the upload is small, or a line is not in canonical form: a removal, for example. */
  const recordsOf = (): SentRecords | null => {
    const sourceIds = [...seen]
    const [firstSourceId, lastSourceId] = [sourceIds[0], sourceIds.at(-1)]
    if (allBytes < smallBytes || allHashes.length < sourceIds.length) return null
    if (firstSourceId === undefined || lastSourceId === undefined) return null
    const recordsSha256 = hashRecords(sourceIds, allHashes)
    return { firstSourceId, lastSourceId, records: sourceIds.length, recordsSha256 }
  }

  return {
    take(bytes: Buffer, number: number): Promise<void> | undefined {
      const parts = isLookedUp ? partsOf(bytes) : null
      part.lines.push({ bytes, number, place: parts && part.sourceIds.length })
      if (parts) {
        part.sourceIds.push(parts.sourceId)
        part.hashes.push(hashSource(parts.attributes))
      }
      part.bytes += bytes.length
      const isFirst = part.lines[0]?.number === 1
      return part.bytes < (isFirst ? firstPartBytes : partBytesMax) ? undefined : endPart()
    },
    /** `records`: of all lines, where the body may be known by its bytes when it comes again. */
    async end() {
      await endPart()
      await reading
      return { lines, asStored: { sent, neighbours: null, stamp: lookup.stamp }, records: recordsOf() }
    },
  }
}

/** `sourceIds` and `hashes`: of the lines that are looked up. */
type Part = { lines: Line[]; bytes: number; sourceIds: string[]; hashes: string[] }

function startPart(): Part {
  return { lines: [], bytes: 0, sourceIds: [], hashes: [] }
}

/** `place`: among those that are looked up; null where it is not. */
type Line = { bytes: Buffer; number: number; place: number | null }

const none: ReadonlySet<number> = new Set()

/** Some ten records. A smaller upload most often has changed ones: to look them up would cost more than to read them. */
const smallBytes = 16 * 1024
/** Enough to see whether most lines are stored just so. */
const firstPartBytes = 64 * 1024
const partBytesMax = 512 * 1024
