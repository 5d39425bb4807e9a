import { promisify } from 'node:util'
import { constants, crc32, deflateRaw as deflateRawWithCallback } from 'node:zlib'
import { ownBytes } from '../memory/own-bytes.ts'
import { combineCrc32 } from './crc32-combine.ts'

/**
 * A text as a raw deflate stream (RFC 1951) that ends at a byte's boundary with a full flush and has no final block: such streams stand one after
 * the other in one gzip member, in any order. `bytes` and `crc32`: of the text.
 */
export type PackedText = { data: Buffer; bytes: number; crc32: number }

const deflateRaw = promisify(deflateRawWithCallback)

/** Packs a text, off the event loop. */
export async function packText(text: string, level: number): Promise<PackedText> {
  const bytes = Buffer.from(text)
  const data = await deflateRaw(bytes, { level, finishFlush: constants.Z_FULL_FLUSH })
  return { data, bytes: bytes.length, crc32: crc32(bytes) }
}

/**
 * One gzip member (RFC 1952) of these texts, one after the other, in own bytes. Packed ones are taken as they are, others are stored without
 * compression.
 */
export function gzipMember(parts: readonly (PackedText | string)[]): Buffer {
  const member = beginGzipMember()
  return joined([...member.pieces(parts), member.end()])
}

/** The same bit by bit: `add` gives the bytes of these texts, with the header before the first ones, and `end` the last bytes. */
export function beginGzipMember() {
  let isBegun = false
  let crc = 0
  let bytes = 0
  const take = (part: PackedText) => {
    crc = combineCrc32(crc, part.crc32, part.bytes)
    bytes += part.bytes
    return part.data
  }
  const pieces = (parts: readonly (PackedText | string)[]): Buffer[] => {
    const before = isBegun ? [] : [header]
    isBegun = true
    return [...before, ...parts.map((part) => take(typeof part === 'string' ? storedText(part) : part))]
  }
  return {
    pieces,
    add: (parts: readonly (PackedText | string)[]): Buffer => joined(pieces(parts)),
    end(): Buffer {
      const trailer = Buffer.alloc(8)
      trailer.writeUInt32LE(crc, 0)
      trailer.writeUInt32LE(bytes % 2 ** 32, 4)
      return Buffer.concat([emptyFinalBlock, trailer])
    },
  }
}

function joined(pieces: readonly Buffer[]): Buffer {
  const bytes = ownBytes(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let end = 0
  for (const piece of pieces) end += piece.copy(bytes, end)
  return bytes
}

/** Deflate, no flags, no time, no hint about the compression, unknown system. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
/** The end of a block of fixed codes without content, which is also the last block. */
const emptyFinalBlock = Buffer.from([3, 0])

/** Stored blocks (RFC 1951 3.2.4): at most 65,535 bytes each, of which the length and its complement come first. */
export function storedText(text: string): PackedText {
  const bytes = Buffer.from(text)
  const blocks: Buffer[] = []
  for (let start = 0; start < bytes.length; start += storedMax) {
    const content = bytes.subarray(start, start + storedMax)
    const head = Buffer.alloc(5)
    head.writeUInt16LE(content.length, 1)
    head.writeUInt16LE(storedMax - content.length, 3)
    blocks.push(head, content)
  }
  return { data: Buffer.concat(blocks), bytes: bytes.length, crc32: crc32(bytes) }
}

const storedMax = 0xffff
