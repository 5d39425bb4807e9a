import { crc32, deflateSync } from 'node:zlib'

/** What is wrong with a PNG of a test; nothing: it is a logo that is taken. */
export type PngOptions = {
  side?: number
  colours?: number
  depth?: number
  interlaced?: boolean
  /** What the pixels are unpacked to, in place of an image of one colour. */
  pixels?: Buffer
  /** A comment before the pixels. */
  text?: string
  trailing?: Buffer
}

/** A PNG as bytes. */
export function aPng(options: PngOptions = {}): Buffer {
  const { side = 128, colours = 6, depth = 8, interlaced = false } = options
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header.set([depth, colours, 0, 0, interlaced ? 1 : 0], 8)
  const pixels = options.pixels ?? Buffer.alloc(side * (1 + side * (colours === 2 ? 3 : 4)))
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    ...(options.text === undefined ? [] : [chunk('tEXt', Buffer.from(`Comment\0${options.text}`))]),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
    options.trailing ?? Buffer.alloc(0),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const numbers = Buffer.alloc(8)
  numbers.writeUInt32BE(data.length, 0)
  numbers.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([numbers.subarray(0, 4), body, numbers.subarray(4)])
}
