import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { Problem } from '../../platform/errors/problem.ts'

/** Width and height of every logo in pixels. The portal's page scales what a person chooses. */
const side = 128
const bytesMax = 80 * 1024
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/**
 * A logo as it is stored: a PNG of 128 × 128 pixels, packed anew from the pixels that were sent, with nothing else in it. Takes such a PNG only,
 * of 8 bits a colour: what is unpacked is no larger than 64 KiB, whatever the file claims. Throws Problem logo_invalid.
 */
export function readLogo(bytes: Buffer): Buffer {
  if (bytes.length > bytesMax) refuse(`The file has more than ${bytesMax / 1024} KiB.`)
  if (!bytes.subarray(0, 8).equals(signature)) refuse(`This is ${kindOf(bytes)}.`)
  const chunks = readChunks(bytes)
  const header = chunks[0]?.type === 'IHDR' && chunks[0].data.length === 13 ? chunks[0].data : null
  if (header === null) refuse('The file is damaged: it does not begin with its size.')
  if (header.readUInt32BE(0) !== side || header.readUInt32BE(4) !== side) {
    refuse(`The image has ${header.readUInt32BE(0)} × ${header.readUInt32BE(4)} pixels.`)
  }
  const [depth, colours, ...methods] = header.subarray(8)
  const channels = colours === 2 ? 3 : 4
  if (depth !== 8 || (colours !== 2 && colours !== 6) || methods.some((method) => method !== 0)) {
    refuse('Its colours must be 8-bit RGB or RGBA, without interlacing.')
  }
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data))
  const rowBytes = 1 + side * channels
  const rows = unpack(packed, side * rowBytes)
  // The first byte of a row says how it was filtered; there are five ways.
  for (let at = 0; at < rows.length; at += rowBytes) {
    if ((rows[at] ?? 5) > 4) refuse('The file is damaged: its pixels cannot be read.')
  }
  return Buffer.concat([
    signature,
    chunkOf('IHDR', header),
    chunkOf('IDAT', deflateSync(rows, { level: 9 })),
    chunkOf('IEND', Buffer.alloc(0)),
  ])
}

function readChunks(bytes: Buffer): { type: string; data: Buffer }[] {
  const chunks: { type: string; data: Buffer }[] = []
  for (let at = signature.length; at < bytes.length; ) {
    const length = at + 12 <= bytes.length ? bytes.readUInt32BE(at) : bytes.length
    const end = at + 12 + length
    if (end > bytes.length) refuse('The file is damaged: it ends too early.')
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) {
      refuse('The file is damaged: a checksum is wrong.')
    }
    chunks.push({ type, data: bytes.subarray(at + 8, end - 4) })
    if (type === 'IEND' && end < bytes.length) refuse('Something else follows the image in this file.')
    at = end
  }
  if (chunks.at(-1)?.type !== 'IEND') refuse('The file is damaged: it ends too early.')
  return chunks
}

function unpack(packed: Buffer, size: number): Buffer {
  try {
    const rows = inflateSync(packed, { maxOutputLength: size })
    if (rows.length === size) return rows
  } catch {
    // Not deflated, or more than the pixels need.
  }
  return refuse('The file is damaged: it does not hold the pixels of its size.')
}

function chunkOf(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}

function kindOf(bytes: Buffer): string {
  const start = bytes.toString('latin1', 0, 256)
  if (/^\s*(?:\xef\xbb\xbf)?\s*</.test(start)) return 'SVG, HTML or another text'
  if (start.startsWith('\xff\xd8')) return 'a JPEG'
  if (start.startsWith('GIF8')) return 'a GIF'
  if (start.startsWith('RIFF')) return 'a WebP'
  return 'no PNG'
}

function refuse(because: string): never {
  throw new Problem('logo_invalid', { errors: `The logo must be a PNG of ${side} × ${side} pixels. ${because}` })
}
