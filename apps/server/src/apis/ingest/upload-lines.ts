import { limits } from '@bridgework/contract'
import { pick, type SentHashes, type StoredLookup } from '../../modules/records/as-stored.ts'
import { hashSource } from '../../modules/records/document.ts'
import type { Upload, UploadLine } from '../../modules/records/upload.ts'
import { giveBack } from '../../platform/memory/own-bytes.ts'
import { mapWithPauses } from '../../platform/memory/pauses.ts'
import { endsMemory } from './body.ts'
import { type LineBounds, textOf } from './lines.ts'
import { invalid, type ReadLine } from './record-line.ts'

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
export function createUploadReader(readLine: ReadLine, lookup: StoredLookup) {
  const seen = new Set<string>()
  const lines: UploadLine[] = []
  const sent: SentHashes[] = []
  let isLookedUp = true
  let part = startPart()
  let reading = Promise.resolve()

  const see = (sourceId: string, number: number) => {
    const errors = 'source_id is also in an earlier line of this upload.'
    if (seen.has(sourceId)) throw invalid(number, { field: 'source_id', errors })
    seen.add(sourceId)
  }
  const readPart = async ({ lines: taken, bytes, sourceIds, hashes, pieces }: Part) => {
    const asked = { sourceIds, hashes: hashes.join('') }
    const isSmall = taken[0]?.number === 1 && bytes < smallBytes
    const isAsked = isLookedUp && sourceIds.length > 0 && !isSmall
    const other = isAsked ? await lookup.findOther(asked) : none
    const places: number[] = []
    await mapWithPauses(taken, ({ bytes, number, place }) => {
      if (isAsked && place !== null && !other.has(place)) {
        places.push(place)
        see(sourceIds[place] ?? '', number)
        return
      }
      const line = readLine(textOf(bytes, number, lineBounds), number)
      see(line.sourceId, number)
      lines.push(line)
    })
    if (places.length > 0) sent.push(other.size === 0 ? asked : pick(asked, places))
    isLookedUp &&= places.length > taken.length / 2
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
    take(bytes: Buffer, number: number): Promise<void> | undefined {
      const sent = isLookedUp ? hashOf(bytes) : null
      part.lines.push({ bytes, number, place: sent && part.sourceIds.length })
      if (sent) {
        part.sourceIds.push(sent.sourceId)
        part.hashes.push(sent.hash)
      }
      part.bytes += bytes.length
      const isFirst = number === part.lines.length
      return part.bytes < (isFirst ? firstPartBytes : partBytesMax) ? undefined : endPart()
    },
    /** Call it with each piece of the body once all lines that end in it were taken: its memory is given back when they were read. */
    passed(piece: Buffer): void {
      // Other pieces may still come in the same memory.
      if (endsMemory(piece)) part.pieces.push(piece)
    },
    async end(): Promise<Required<Pick<Upload, 'lines' | 'asStored'>>> {
      await endPart()
      await reading
      return { lines, asStored: { sent, stamp: lookup.stamp } }
    },
  }
}

/** `sourceIds` and `hashes`: of the lines that are looked up. `pieces`: of the body, in which no later line is. */
type Part = { lines: Line[]; bytes: number; sourceIds: string[]; hashes: string[]; pieces: Buffer[] }

function startPart(): Part {
  return { lines: [], bytes: 0, sourceIds: [], hashes: [], pieces: [] }
}

/** `place`: among those that are looked up; null where it is not. */
type Line = { bytes: Buffer; number: number; place: number | null }

const none: ReadonlySet<number> = new Set()

/** Some ten records. */
const smallBytes = 16 * 1024
/** Enough to see whether most lines are stored just so. */
const firstPartBytes = 64 * 1024
const partBytesMax = 512 * 1024

/** The key, and the hash of the attributes' text, of a line as our agent writes it; null of any other, which is read. */
function hashOf(line: Buffer): { sourceId: string; hash: string } | null {
  if (!hasAt(line, 0, begin) || line[line.length - 1] !== closeBrace) return null
  let end = begin.length
  while (isPlain[line[end] ?? 0] === 1) end += 1
  const length = end - begin.length
  if (length === 0 || length > keyLengthMax || !hasAt(line, end, middle)) return null
  return {
    sourceId: line.toString('latin1', begin.length, end),
    hash: hashSource(line.subarray(end + middle.length, -1)),
  }
}

/** A loop over so few bytes takes less time than a call of Buffer's own. */
function hasAt(line: Buffer, from: number, bytes: Buffer): boolean {
  for (let index = 0; index < bytes.length; index += 1) if (line[from + index] !== bytes[index]) return false
  return true
}

const begin = Buffer.from('{"source_id":"')
const middle = Buffer.from('","attributes":')
/** Printable ASCII in which nothing is escaped. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) => Number(/[ !#-[\]-~]/.test(String.fromCharCode(byte))))
const keyLengthMax = 255
const closeBrace = 0x7d
