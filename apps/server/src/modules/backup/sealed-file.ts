import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { Problem } from '../../platform/errors/problem.ts'

/*
 * A file of frames, each compressed and sealed with AES-256-GCM. The nonce is the frame's number, under a key of the file's own, so a frame
 * that is altered, moved, left out or taken from another file does not open; and a file without its last frame is not complete.
 *
 *   magic, salt (32 bytes), then for each frame: length (4 bytes), ciphertext, tag (16 bytes)
 */

const magic = Buffer.from('bridgework backup 1\n')
const saltBytes = 32
const tagBytes = 16
/** Bytes of a frame before it is compressed; what is longer is refused. */
export const frameBytesMax = 1024 * 1024

/** What a frame is: the first byte of its content. */
export const frameKinds = ['start', 'table', 'rows', 'checked', 'end'] as const
export type FrameKind = (typeof frameKinds)[number]
/** `end`: where it ends in the file. */
export type Frame = { kind: FrameKind; content: Buffer; end: number }

export type FrameWriter = { write: (kind: FrameKind, content: Buffer | object) => Promise<void> }

/** Begins a sealed file. */
export async function createFrameWriter(file: FileHandle, key: Uint8Array): Promise<FrameWriter> {
  const salt = randomBytes(saltBytes)
  const fileKey = keyOf(key, salt)
  await file.appendFile(Buffer.concat([magic, salt]))
  let number = 0
  return {
    async write(kind, content) {
      const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content))
      if (bytes.length > frameBytesMax) throw new Error(`a frame of ${bytes.length} bytes is too long`)
      const plain = zstdCompressSync(Buffer.concat([Buffer.from([frameKinds.indexOf(kind)]), bytes]))
      const cipher = createCipheriv('aes-256-gcm', fileKey, nonceOf(number))
      const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
      const length = Buffer.alloc(4)
      length.writeUInt32BE(sealed.length)
      await file.appendFile(Buffer.concat([length, sealed]))
      number += 1
    },
  }
}

/** The frames of a sealed file, each as it was written. Throws Problem `backup_unusable` at the first that is not, and when the last one is missing. */
export async function* readFrames(file: FileHandle, keys: readonly Uint8Array[]): AsyncGenerator<Frame> {
  const read = readerOf(file)
  // A file that is shorter is none.
  const head = await read(magic.length + saltBytes).catch(() => null)
  if (!head?.subarray(0, magic.length).equals(magic)) throw unusable('This file is not a backup of Bridgework.')
  const fileKeys = keys.map((key) => keyOf(key, head.subarray(magic.length)))
  for (let number = 0, end = head.length, kind: FrameKind | null = null; ; number += 1) {
    const length = await read(4)
    if (length === null) {
      if (kind === 'end') return
      throw unusable('The backup is not complete: its end is missing. Use another one.')
    }
    const size = length.readUInt32BE()
    const sealed = size > tagBytes && size < 2 * frameBytesMax && kind !== 'end' ? await read(size) : null
    if (sealed === null) throw unusable('The backup was damaged or changed. Use another one.')
    const frame = open(sealed, fileKeys, number)
    kind = frame.kind
    end += length.length + size
    yield { ...frame, end }
  }
}

/** Opens a frame with the one of the keys that fits. The first frame finds it, and leaves it alone in the list. */
function open(sealed: Buffer, keys: Buffer[], number: number): Omit<Frame, 'end'> {
  try {
    const opened = decipherWithOne(sealed, keys, number)
    const plain = zstdDecompressSync(opened, { maxOutputLength: frameBytesMax + 1 })
    const kind = frameKinds[plain[0] ?? -1]
    if (kind === undefined) throw new Error('a frame of no kind')
    return { kind, content: plain.subarray(1) }
  } catch (cause) {
    const errors =
      number === 0
        ? 'The backup was made with another secret key, or it was damaged. Use the secret key file of the installation that made it.'
        : 'The backup was damaged or changed. Use another one.'
    throw unusable(errors, cause)
  }
}

function decipherWithOne(sealed: Buffer, keys: Buffer[], number: number): Buffer {
  const fits = (key: Buffer) => {
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number))
      decipher.setAuthTag(sealed.subarray(-tagBytes))
      return Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()])
    } catch {
      return null
    }
  }
  for (const key of keys) {
    const opened = fits(key)
    if (opened === null) continue
    keys.splice(0, keys.length, key)
    return opened
  }
  throw new Error('no key opens this frame')
}

/** Reads so many bytes; null when the file ends before them. */
function readerOf(file: FileHandle): (bytes: number) => Promise<Buffer | null> {
  return async (bytes) => {
    const buffer = Buffer.alloc(bytes)
    for (let read = 0; read < bytes; ) {
      const { bytesRead } = await file.read(buffer, read, bytes - read)
      if (bytesRead === 0) {
        if (read === 0) return null
        throw unusable('The backup is not complete: its end is missing. Use another one.')
      }
      read += bytesRead
    }
    return buffer
  }
}

function keyOf(key: Uint8Array, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, 'bridgework backup file', 32))
}

function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeBigUInt64BE(BigInt(number), 4)
  return nonce
}

/** A backup that cannot be used, and what to do. */
export function unusable(errors: string, cause?: unknown): Problem {
  return new Problem('backup_unusable', { errors, cause })
}
