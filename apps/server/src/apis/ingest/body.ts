import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { codeOf } from '../../platform/errors/error-code.ts'
import { Problem } from '../../platform/errors/problem.ts'

/**
 * Bodies of this instance's routes: NDJSON as a Buffer, JSON parsed, either gzipped or not, each at most the route's `bodyLimit` unpacked.
 */
export function acceptUploads(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/x-ndjson', (request: FastifyRequest, payload: IncomingMessage) =>
    readUnpacked(payload, limitOf(request)),
  )
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) =>
    parseJson(decodeUtf8(await readUnpacked(payload, limitOf(request)))),
  )
}

/** A body's text. Throws body_malformed when it is not UTF-8: replacement characters would be stored as if they had been sent. */
export function decodeUtf8(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (cause) {
    throw new Problem('body_malformed', { errors: 'The request body is not valid UTF-8.', cause })
  }
}

/** Counted while it is unpacked, so that a small body of many zeros never becomes a large one in memory. */
async function readUnpacked(payload: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const encoding = (payload.headers['content-encoding'] ?? 'identity').toLowerCase()
  if (encoding !== 'identity' && encoding !== 'gzip') throw new Problem('content_encoding_unsupported')
  const chunks: Buffer[] = []
  let bytes = 0
  const collect = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of source) {
      bytes += chunk.length
      if (bytes > bytesMax) throw tooLarge(bytesMax)
      chunks.push(chunk)
    }
  }
  try {
    if (encoding === 'gzip') await pipeline(payload, createGunzip(), collect)
    else await pipeline(payload, collect)
  } catch (cause) {
    const isZlib = codeOf(cause)?.startsWith('Z_')
    throw isZlib ? new Problem('body_malformed', { errors: 'The request body is not valid gzip.', cause }) : cause
  }
  return Buffer.concat(chunks, bytes)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Problem('body_malformed', { cause })
  }
}

function limitOf(request: FastifyRequest): number {
  return request.routeOptions.bodyLimit
}

function tooLarge(bytesMax: number): Problem {
  const limit = bytesMax >= 2 ** 20 ? `${bytesMax / 2 ** 20} MiB` : `${bytesMax / 1024} KiB`
  return new Problem('body_too_large', { errors: `The request body is too large: at most ${limit} unpacked.` })
}
