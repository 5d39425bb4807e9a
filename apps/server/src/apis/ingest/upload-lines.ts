import { limits } from '@bridgework/contract'
import type { SentHash, StoredLookup } from '../../modules/records/as-stored.ts'
import { hashSource } from '../../modules/records/document.ts'
import type { Upload, UploadLine } from '../../modules/records/upload.ts'
import { mapWithPauses } from '../../platform/memory/pauses.ts'
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
 * not looked up: new records would only cost more.
 */
export function createUploadReader(readLine: ReadLine, lookup: StoredLookup) {
  const seen = new Set<string>()
  const lines: UploadLine[] = []
  const sent: SentHash[] = []
  let isLookedUp = true
  let part: Line[] = []
  let partBytes = 0
  let reading = Promise.resolve()

  const see = (sourceId: string, number: number) => {
    const errors = 'source_id is also in an earlier line of this upload.'
    if (seen.has(sourceId)) throw invalid(number, { field: 'source_id', errors })
    seen.add(sourceId)
  }
  const readPart = async (taken: readonly Line[]) => {
    const asked = isLookedUp ? taken.flatMap(({ sent }) => sent ?? []) : []
    const other = asked.length === 0 ? none : await lookup.findOther(asked)
    let index = 0
    await mapWithPauses(taken, ({ bytes, number, sent: found }) => {
      const isOther = asked.length === 0 || !found || other.has(index++)
      const line = isOther ? readLine(textOf(bytes, number, lineBounds), number) : found
      see(line.sourceId, number)
      if ('hash' in line) sent.push(line)
      else lines.push(line)
    })
    isLookedUp &&= asked.length - other.size > taken.length / 2
  }
  /** One part is looked up while the next arrives; nothing arrives while a line of some megabytes is read. */
  const endPart = async () => {
    const [taken, isLarge] = [part, partBytes > 2 * partBytesMax]
    part = []
    partBytes = 0
    await reading
    reading = readPart(taken)
    // Thrown where it is awaited.
    reading.catch(() => {})
    if (isLarge) await reading
  }

  return {
    take(bytes: Buffer, number: number): Promise<void> | undefined {
      part.push({ bytes, number, sent: isLookedUp ? hashOf(bytes) : null })
      partBytes += bytes.length
      const isFirst = number === part.length
      return partBytes < (isFirst ? firstPartBytes : partBytesMax) ? undefined : endPart()
    },
    async end(): Promise<Required<Pick<Upload, 'lines' | 'asStored'>>> {
      await endPart()
      await reading
      return { lines, asStored: { sent, stamp: lookup.stamp } }
    },
  }
}

/** `sent`: null where it is not looked up. */
type Line = { bytes: Buffer; number: number; sent: SentHash | null }

const none: ReadonlySet<number> = new Set()

/** Enough to see whether most lines are stored just so. */
const firstPartBytes = 64 * 1024
const partBytesMax = 512 * 1024

/** The key, and the hash of the attributes' text, of a line as our agent writes it; null of any other, which is read. */
function hashOf(line: Buffer): SentHash | null {
  const end = line.indexOf('"', begin.length)
  const sourceId = line.toString('latin1', begin.length, end)
  const isSent =
    line.toString('latin1', 0, begin.length) === begin &&
    line.toString('latin1', end, end + middle.length) === middle &&
    plainKey.test(sourceId) &&
    line.at(-1) === closeBrace
  return isSent ? { sourceId, hash: hashSource(line.subarray(end + middle.length, -1)) } : null
}

const begin = '{"source_id":"'
const middle = '","attributes":'
/** Printable ASCII in which nothing is escaped. */
const plainKey = /^[ !#-[\]-~]{1,255}$/
const closeBrace = 0x7d
