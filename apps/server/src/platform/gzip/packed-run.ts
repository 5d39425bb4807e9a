import { promisify } from 'node:util'
import { constants, crc32, deflateRaw as deflateRawWithCallback, inflateRaw as inflateRawWithCallback } from 'node:zlib'
import { type PackedText, packText, storedText } from './gzip-member.ts'

/** Texts with a comma between each two of them, packed. `lines`: how the same bytes become lines; null where they cannot. */
export type PackedRun = PackedText & { lines: LineSwitch | null }

/** Where the byte is that makes newlines of all commas between the texts, and the CRC-32 that the text then has. */
export type LineSwitch = { at: number; crc32: number }

const deflateRaw = promisify(deflateRawWithCallback)
const inflateRaw = promisify(inflateRawWithCallback)

/**
 * Packs texts without newlines in them so that one byte says what stands between them. The first separator is a stored block of its own, and zlib
 * repeats what it has seen: each later separator is a part of a repetition of an earlier one, and so a copy of that byte. Where zlib wrote one
 * out, which inflating shows, the texts are packed in the usual way. Off the event loop.
 */
export async function packRun(texts: readonly string[], level: number): Promise<PackedRun> {
  const list = Buffer.from(texts.join(','))
  const lines = Buffer.from(texts.join('\n'))
  const begin = Buffer.byteLength(texts[0] ?? '')
  const dictionary = lines.subarray(0, begin + 1)
  const [first, others] = await Promise.all([
    deflateRaw(lines.subarray(0, begin), { level, finishFlush: constants.Z_FULL_FLUSH }),
    deflateRaw(lines.subarray(begin + 1), { level, finishFlush: constants.Z_FULL_FLUSH, dictionary }),
  ])
  const separator = storedText(',').data
  const data = Buffer.concat([first, separator, others])
  const unpacked = await inflateRaw(data, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: list.length + 1 })
  if (!unpacked.equals(list)) return { ...(await packText(texts.join(','), level)), lines: null }
  const at = first.length + separator.length - 1
  return { data, bytes: list.length, crc32: crc32(list), lines: { at, crc32: crc32(lines) } }
}

/** The texts with newlines between them. The bytes are changed where they are. */
export function switchToLines({ data, bytes }: PackedText, lines: LineSwitch): PackedText {
  data[lines.at] = 0x0a
  return { data, bytes, crc32: lines.crc32 }
}
