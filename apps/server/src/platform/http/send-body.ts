import type { OutgoingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { constants, gunzip as gunzipWithCallback, gzip as gzipWithCallback, zstdCompress } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import Negotiator from 'negotiator'
import pLimit from 'p-limit'
import { giveBack, own } from '../memory/own-bytes.ts'

export type ContentCoding = 'zstd' | 'gzip'

/** A whole body; parts are joined as they are. A list is emptied when it is packed, so that a slow reader keeps no page in memory. */
export type Body = Buffer | string | (Buffer | string)[] | { gzipped: Buffer }

export type BodyOptions = {
  body: Body
  /** How the caller takes it packed: `acceptedCoding(request.headers['accept-encoding'])`; null: not at all. */
  coding: ContentCoding | null
  /** Told how many bytes stay in memory until the reader has taken them. */
  onHeld?: (bytes: number) => void
  /** Awaited before the last bytes go to the socket, once, also when the caller left or was cut: a slot is given back here. */
  beforeLastBytes?: () => Promise<void>
  onCut?: (because: 'stalled' | 'too slow') => void
  /** Cuts the connection when it fires. */
  signal?: AbortSignal
  /** Cut when the caller takes nothing for so long. */
  stallMs?: number
  /** Cut when the whole answer is not taken by then. */
  deadlineMs?: number
}

/**
 * Sends a JSON body as fast as its reader takes it, and no slower than we allow: a reader that stalls, trickles or leaves is cut off and
 * `beforeLastBytes` has run all the same. Resolves when nothing more will be sent. Status and headers are those set on `reply`.
 */
export async function sendBody(reply: FastifyReply, options: BodyOptions): Promise<void> {
  const { stallMs = 25_000, deadlineMs = 55_000 } = options
  if (sendAtOnce(reply, options)) return
  const watched = { ...options, stallMs, deadlineMs }
  if (!hasToWait(reply) && isOnePiece(options.body)) return await sendSmall(reply, options, watched)
  await withReader(reply, watched, async (reader, release) => {
    const gzipped = isGzipped(options.body) ? options.body.gzipped : null
    const isReady = gzipped !== null && options.coding === 'gzip'
    const unpacked = gzipped && !isReady ? await unpack(gzipped) : null
    if (gzipped && unpacked) giveBack(gzipped)
    const parts = unpacked ? [unpacked] : partsOf(options.body)
    const plainLength = parts.reduce((length, part) => length + Buffer.byteLength(part), 0)
    const coding = isReady || plainLength > packAboveBytes ? options.coding : null
    const packed = isReady ? gzipped : coding && (await pack[coding](joined(parts)))
    const length = packed?.length ?? plainLength
    if (packed && Array.isArray(options.body)) options.body.length = 0
    options.onHeld?.(length)
    if (length <= chunkBytes) await release()

    const response = beginResponse(reply)
    if (coding) response.setHeader('Content-Encoding', coding)
    response.setHeader('Content-Length', length)

    let last: Buffer = Buffer.alloc(0)
    for (const chunk of packed ? slices(packed) : encoded(parts)) {
      if (reader.isClosed()) break
      const before = last
      last = chunk
      if (before.length > 0) await reader.takes((taken) => response.write(before, taken))
    }
    await release()
    if (!reader.isClosed()) await reader.takes((taken) => response.end(last, taken))
    const bytes = packed ?? unpacked
    if (bytes && response.writableFinished) giveBack(bytes)
  })
}

/**
 * Sends a small body that nothing has to be done before, as of an empty delta, where the system takes it at once: then there is no reader to
 * wait for, so none is watched. False: nothing was sent, the usual way does it.
 */
function sendAtOnce(reply: FastifyReply, { body, beforeLastBytes, signal, onHeld }: BodyOptions): boolean {
  if (beforeLastBytes || signal || isGzipped(body) || Buffer.isBuffer(body)) return false
  if (hasToWait(reply)) return false
  const text = typeof body === 'string' ? body : body.join('')
  const length = Buffer.byteLength(text)
  if (length > packAboveBytes) return false
  onHeld?.(length)
  answerWith(reply, text, length, null)
  return true
}

/** Behind another answer on its connection, or behind a slow reader, an answer would wait. */
function hasToWait({ raw, request }: FastifyReply): boolean {
  const { socket } = request.raw
  return raw.socket !== socket || socket.destroyed || socket.writableLength > 0
}

/** What goes out in one piece. */
export function isOnePiece(body: Body): boolean {
  if (isGzipped(body)) return false
  let length = 0
  for (const part of partsOf(body)) {
    length += Buffer.byteLength(part)
    if (length > chunkBytes) return false
  }
  return true
}

/**
 * Sends such a body in one piece after `release`. What the system takes at once, as it does unless the reader is behind, has no reader to
 * wait for, so none is watched: two timers and two listeners less for each delta.
 */
async function sendSmall(
  reply: FastifyReply,
  { body, coding, onHeld }: BodyOptions,
  watched: ReaderOptions,
): Promise<void> {
  const release = once(watched.beforeLastBytes ?? (async () => {}))
  try {
    const plain = textOf(body) ?? joined(partsOf(body))
    const plainLength = Buffer.byteLength(plain)
    const packed = coding && plainLength > packAboveBytes ? await pack[coding](joined([plain])) : null
    const length = packed?.length ?? plainLength
    if (Array.isArray(body)) body.length = 0
    onHeld?.(length)
    await release()
    const { socket } = reply.request.raw
    if (watched.signal?.aborted && !socket.destroyed) {
      watched.onCut?.('too slow')
      socket.resetAndDestroy()
    }
    const { promise: taken, resolve: onTaken } = Promise.withResolvers<void>()
    answerWith(reply, packed ?? plain, length, packed ? coding : null, onTaken)
    if (socket.destroyed || socket.writableLength === 0) return
    const reader = watchReader(reply, watched)
    await reader.takes((done) => void taken.then(done))
    reader.stop()
  } finally {
    await release()
  }
}

/** Head and body in one piece. `taken` is called when the system has taken all of it. */
function answerWith(
  reply: FastifyReply,
  body: Buffer | string,
  length: number,
  coding: ContentCoding | null,
  taken?: () => void,
): void {
  // The framework's type has a number for each header; no route sets one.
  const headers = reply.getHeaders() as OutgoingHttpHeaders
  // Names and values in turns, all at once: header by header, they cost as much as the rest of a small answer.
  const list = ['vary', headers.vary === undefined ? 'Accept-Encoding' : `${headers.vary}, Accept-Encoding`]
  for (const name in headers) if (name !== 'vary') list.push(name, headers[name] as string)
  if (headers['content-type'] === undefined) list.push('content-type', jsonType)
  if (coding) list.push('content-encoding', coding)
  list.push('content-length', String(length))
  reply.raw.writeHead(reply.statusCode, list)
  reply.hijack()
  reply.raw.end(body, taken)
}

const jsonType = 'application/json; charset=utf-8'

function isGzipped(body: Body): body is { gzipped: Buffer } {
  return typeof body === 'object' && 'gzipped' in body
}

function partsOf(body: Body): (Buffer | string)[] {
  if (isGzipped(body)) return []
  return Array.isArray(body) ? body : [body]
}

/** A body of texts alone, as one: Node sends it in one piece with the head, and it takes no memory outside of V8's heap. */
function textOf(body: Body): string | null {
  const parts = partsOf(body)
  return parts.every((part) => typeof part === 'string') ? parts.join('') : null
}

/** Unpacks a gzip member into own bytes: the length is at the end of a gzip member. One byte more, or zlib makes room for another buffer. */
export async function unpack(gzipped: Buffer): Promise<Buffer> {
  const length = gzipped.readUInt32LE(gzipped.length - 4)
  const bytes = await inTurn(length, () => gunzip(gzipped, { chunkSize: Math.max(length + 1, 1024) }))
  return bytes.buffer.byteLength === length + 1 ? own(bytes) : bytes
}

/** Answers a HEAD without making the body: the headers set on `reply`, and no length, because it is not known. */
export function sendHead(reply: FastifyReply): void {
  beginResponse(reply).end()
}

/** Takes the response over from the framework, with the status and the headers that are set. */
export function beginResponse(reply: FastifyReply): FastifyReply['raw'] {
  reply.hijack()
  const response = reply.raw
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) response.setHeader(name, value)
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', jsonType)
  response.appendHeader('Vary', 'Accept-Encoding')
  response.statusCode = reply.statusCode
  return response
}

/**
 * How a caller's Accept-Encoding takes a body (RFC 9110 12.5.3): of zstd, where it is named, and gzip (`x-gzip` is the same), also by `*`, what the
 * caller prefers, then what we do; null when neither is taken.
 */
export function acceptedCoding(
  header: string | string[] | undefined,
  preferred: ContentCoding = 'zstd',
): ContentCoding | null {
  if (header === undefined) return null
  const codings = String(header).replace(/x-gzip/i, 'gzip')
  const both: ContentCoding[] = preferred === 'zstd' ? ['zstd', 'gzip'] : ['gzip', 'zstd']
  const offered: ContentCoding[] = /\bzstd\b/i.test(codings) ? both : ['gzip']
  // The package's types lack the second argument: what comes first when the caller likes both the same.
  const negotiator = new Negotiator({ headers: { 'accept-encoding': codings } }) as unknown as {
    encodings: (offered: readonly string[], options: { preferred: readonly string[] }) => ContentCoding[]
  }
  return negotiator.encodings(offered, { preferred: offered })[0] ?? null
}

/** An ordinary page of 5,000 is smaller. */
const largeBytes = 8 * 1024 * 1024
const oneLarge = pLimit(1)

/**
 * One large body is packed or unpacked at a time in a process. Four at once take all of libuv's threads and both of two cores: measured, a
 * small page beside them waited up to 290 ms.
 */
function inTurn(length: number, work: () => Promise<Buffer>): Promise<Buffer> {
  return length > largeBytes ? oneLarge(work) : work()
}

const [gzip, gunzip, zstd] = [promisify(gzipWithCallback), promisify(gunzipWithCallback), promisify(zstdCompress)]
const pack: Record<ContentCoding, (bytes: Buffer) => Promise<Buffer>> = {
  gzip: (bytes) => inTurn(bytes.length, () => gzip(bytes, { level: 1 })),
  zstd: (bytes) => inTurn(bytes.length, () => zstd(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } })),
}
const packAboveBytes = 1024
/**
 * The grain in which a body goes out, and in which progress is seen: a reader slower than this per stall time is a stalled one. The last
 * chunk is held back until the slot is free; a body of at most this size is sent in one piece after it.
 */
const chunkBytes = 64 * 1024

type ReaderOptions = Pick<BodyOptions, 'beforeLastBytes' | 'onCut' | 'signal'> & { stallMs: number; deadlineMs: number }

/** Sends to a reader that is watched. `release` runs `beforeLastBytes`, once; it has run in the end, also where sending fails. */
export async function withReader(
  reply: FastifyReply,
  options: ReaderOptions,
  send: (reader: ReturnType<typeof watchReader>, release: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const release = once(options.beforeLastBytes ?? (async () => {}))
  const reader = watchReader(reply, options)
  try {
    await send(reader, release)
  } catch (error) {
    // Before the first byte the error handler answers; after it, only a broken connection tells the caller that the body is not whole.
    if (!reply.sent) throw error
    reply.raw.destroy()
  } finally {
    reader.stop()
    await release()
  }
}

/** Cuts the connection of a reader that takes nothing for `stallMs`, or not everything in `deadlineMs`. */
function watchReader(reply: FastifyReply, { stallMs, deadlineMs, signal, onCut }: ReaderOptions) {
  const { socket } = reply.request.raw
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>()
  // The socket, not the response: a response that waits behind another on its connection is not informed when the connection closes.
  socket.once('close', onClosed)
  if (socket.destroyed) onClosed()

  const cut = (because: 'stalled' | 'too slow') => {
    onCut?.(because)
    // A reset, so that what the reader left in the kernel's buffer is dropped at once.
    socket.resetAndDestroy()
  }
  const abort = () => cut('too slow')
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()

  // Progress is what the connection took, also for an earlier answer on it.
  let taken = socket.bytesWritten - socket.writableLength
  let stalledFor = 0
  const checkMs = Math.max(1, Math.floor(stallMs / 5))
  const stall = setInterval(() => {
    const now = socket.bytesWritten - socket.writableLength
    stalledFor = now === taken ? stalledFor + checkMs : 0
    taken = now
    if (stalledFor >= stallMs) cut('stalled')
  }, checkMs)
  const deadline = setTimeout(() => cut('too slow'), deadlineMs)

  return {
    isClosed: () => socket.destroyed,
    /** Resolves when the system took what `write` writes, or the connection closed. */
    takes: (write: (taken: () => void) => void) =>
      Promise.race([closed, new Promise<void>((taken) => write(() => taken()))]),
    stop() {
      clearInterval(stall)
      clearTimeout(deadline)
      signal?.removeEventListener('abort', abort)
      socket.removeListener('close', onClosed)
    },
  }
}

/** The parts' bytes in chunks, each made when its turn comes: a whole page of bytes beside its texts would be the page twice. */
function* encoded(parts: readonly (Buffer | string)[]): Generator<Buffer> {
  let waiting: (Buffer | string)[] = []
  let size = 0
  for (const part of parts) {
    waiting.push(part)
    size += part.length
    if (size < chunkBytes) continue
    yield* slices(joined(waiting))
    waiting = []
    size = 0
  }
  if (size > 0) yield* slices(joined(waiting))
}

/** The bytes in chunks of the size in which progress is seen. */
export function* slices(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes)
}

function joined(parts: readonly (Buffer | string)[]): Buffer {
  const [first] = parts
  if (parts.length === 1 && Buffer.isBuffer(first)) return first
  const bytes = Buffer.allocUnsafe(parts.reduce((length, part) => length + Buffer.byteLength(part), 0))
  let end = 0
  for (const part of parts) end += typeof part === 'string' ? bytes.write(part, end) : part.copy(bytes, end)
  return bytes
}

/** The action, run at the first call alone. */
function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= action()
    return done
  }
}
