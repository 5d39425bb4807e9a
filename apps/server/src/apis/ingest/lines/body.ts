import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { codeOf } from '../../../platform/errors/error-code.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { boundsErrors } from '../../../platform/http/body/json-body.ts'
import { isWithin, type JsonBounds } from '../../../platform/http/body/json-bounds.ts'
import { refuseRepeatedMembers } from '../../../platform/http/body/repeated-member.ts'
import { agentOf } from '../authorize.ts'
import type { LargeBodies } from './large-bodies.ts'

/** Leaves bodies unread: a route reads its own with `openBody`, as it arrives. */
export function leaveBodies(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json')
  for (const type of ['application/x-ndjson', 'application/json']) {
    app.addContentTypeParser(type, (_request: FastifyRequest, payload: IncomingMessage, done) => done(null, payload))
  }
}

/** A body of this type. Throws content_type_unsupported for any other, with the words of the route. */
export function requireType(request: FastifyRequest, type: string, errors?: string): void {
  const received = request.headers['content-type'] ?? ''
  if (received.split(';')[0]?.trim().toLowerCase() === type) return
  throw new Problem('content_type_unsupported', errors === undefined ? {} : { errors })
}

/** The body of a request, which is read while it arrives. */
export type IngestBody = {
  /**
   * Hands the body to `take` in pieces, unpacked, at most the route's `bodyLimit` of it: a small body of many zeros never becomes a large one in
   * memory. A body that turns out to be large waits for its agent's turn, which lasts until `end`; the largest go on alone.
   */
  read: (take: (pieces: AsyncIterable<Buffer>) => Promise<void>) => Promise<void>
  /** The whole body as it was sent, packed, which may still be `read`; null where it is not gzip, small, large, or of a length that is not known. */
  packed: () => Promise<Buffer | null>
  /** A JSON body, whole before it is parsed, and within bounds before anything is built of it; of large ones one at a time is. */
  json: (bounds: JsonBounds) => Promise<unknown>
  /** To be called before what was read is worked on: of large bodies one at a time is. */
  beforeStoring: () => Promise<void>
  end: () => void
}

export function openBody(request: FastifyRequest, largeBodies: LargeBodies): IngestBody {
  const ends: (() => void)[] = []
  const end = () => {
    for (const endTurn of ends.splice(0).reverse()) endTurn()
  }
  let arrived: Buffer | null = null
  const packed: IngestBody['packed'] = async () => {
    const payload = messageOf(request)
    const bytes = Number(payload.headers['content-length'])
    if (encodingOf(payload) !== 'gzip' || !(bytes >= smallPackedBytes && bytes <= usualPackedBytesMax)) return null
    const pieces: Buffer[] = []
    for await (const piece of payload) pieces.push(piece)
    arrived = Buffer.concat(pieces)
    return arrived
  }
  const read: IngestBody['read'] = async (take) => {
    const payload = messageOf(request)
    const encoding = encodingOf(payload)
    const { bodyLimit } = request.routeOptions
    let bytes = 0
    async function* counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const piece of source) {
        bytes += piece.length
        if (bytes > bodyLimit) throw tooLarge(bodyLimit)
        if (bytes > smallBytesMax && ends.length === 0) ends.push(await largeBodies.receive(agentOf(request).agentId))
        if (bytes > usualBytesMax && ends.length === 1) ends.push(await largeBodies.receiveLargest())
        yield piece
      }
    }
    try {
      const isGzip = encoding === 'gzip'
      await take(counted(isGzip ? unpacked(payload, arrived) : payload.iterator({ destroyOnReturn: false })))
    } catch (cause) {
      end()
      await drain(payload, bodyLimit)
      const isZlib = codeOf(cause)?.startsWith('Z_')
      throw isZlib ? new Problem('body_malformed', { errors: 'The request body is not valid gzip.', cause }) : cause
    }
  }
  const beforeStoring = async () => {
    if (ends.length === 0) return
    ends.push(await largeBodies.store())
    // Others are served between two bodies that are refused one after the other.
    await nextTurn()
  }
  return {
    read,
    packed,
    json: async (bounds) => {
      requireType(request, 'application/json')
      const pieces: Buffer[] = []
      await read(async (source) => {
        for await (const piece of source) pieces.push(piece)
      })
      await beforeStoring()
      const body = Buffer.concat(pieces)
      if (!isWithin(body, bounds)) throw new Problem('field_invalid', { errors: boundsErrors })
      const text = decodeUtf8(body)
      const value = parseJson(text)
      refuseRepeatedMembers(text)
      return value
    },
    beforeStoring,
    end,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Problem('body_malformed', { cause })
  }
}

/** `arrived`: the whole of it, where that was read before. */
async function* unpacked(payload: IncomingMessage, arrived: Buffer | null): AsyncGenerator<Buffer> {
  // Larger pieces than zlib's own: each is a task of libuv's threads, and a turn of the event loop.
  const isSmall = Number(payload.headers['content-length']) < smallPackedBytes
  const gunzip = createGunzip(isSmall ? {} : { chunkSize: chunkBytes })
  payload.once('close', () => {
    if (!payload.complete) gunzip.destroy(Object.assign(new Error('the caller left'), { code: 'ECONNRESET' }))
  })
  if (arrived) gunzip.end(arrived)
  else payload.pipe(gunzip)
  // Not `yield*`, which waits for ever when the reader leaves a body that is not read to its end.
  for await (const piece of gunzip as AsyncIterable<Buffer>) yield piece
}

const chunkBytes = 256 * 1024
/** What is packed into less is most often some records, which zlib's own 16 KB hold: more is memory to be collected. */
const smallPackedBytes = 2 * 1024
/** Several thousand records. A body that is packed into more is unpacked as it arrives. */
const usualPackedBytesMax = 512 * 1024

/** Receives the rest of a body that is refused: a connection that is closed while its caller still sends loses the answer. */
async function drain(payload: IncomingMessage, bytesMax: number): Promise<void> {
  if (payload.complete || payload.destroyed) return
  let bytes = 0
  await new Promise<void>((resolve) => {
    payload.once('close', resolve).once('end', resolve).once('error', resolve)
    payload.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > bytesMax) resolve()
    })
    payload.unpipe()
    payload.resume()
  })
}

/** Throws body_malformed when it is not UTF-8: replacement characters would be stored as if they had been sent. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new Problem('body_malformed', { errors: 'The request body is not valid UTF-8.', cause })
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Bounds of the JSON bodies: a thousand locations with their hours. */
export const jsonBounds: JsonBounds = { depthMax: 8, membersMax: 100_000 }

/** A body up to this size, unpacked, does not wait for others. */
const smallBytesMax = 1024 * 1024

/** No upload of our agent is larger, unless one record alone is. */
const usualBytesMax = 8 * 1024 * 1024

function messageOf({ body }: FastifyRequest): IncomingMessage {
  if (!isMessage(body)) throw new Problem('content_type_unsupported')
  return body
}

function encodingOf({ headers }: IncomingMessage): 'identity' | 'gzip' {
  const encoding = (headers['content-encoding'] ?? 'identity').toLowerCase()
  if (encoding !== 'identity' && encoding !== 'gzip') throw new Problem('content_encoding_unsupported')
  return encoding
}

function isMessage(payload: unknown): payload is IncomingMessage {
  return typeof payload === 'object' && payload !== null && 'headers' in payload
}

function tooLarge(bytesMax: number): Problem {
  const limit = bytesMax >= 2 ** 20 ? `${bytesMax / 2 ** 20} MiB` : `${bytesMax / 1024} KiB`
  return new Problem('body_too_large', { errors: `The request body is too large: at most ${limit} unpacked.` })
}
