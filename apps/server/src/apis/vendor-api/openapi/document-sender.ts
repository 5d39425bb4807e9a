import { createHash } from 'node:crypto'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptedCoding, type ContentCoding } from '../../../platform/http/send-body.ts'

/** Sends a text of this type that never changes while the process lives: made and packed once, and not sent again to those who have it. */
export function createDocumentSender(
  make: () => string,
  type = 'application/json; charset=utf-8',
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  let document: ReturnType<typeof pack> | undefined
  return (request, reply) => {
    document ??= pack(Buffer.from(make()))
    reply.headers({ ETag: document.tag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' })
    if (isKnown(request.headers['if-none-match'], document.tag)) return reply.code(304).send()
    const coding = acceptedCoding(request.headers['accept-encoding'])
    if (coding !== null) reply.header('Content-Encoding', coding)
    return reply.type(type).send(document.forms[coding ?? 'identity'])
  }
}

function pack(plain: Buffer): { tag: string; forms: Record<ContentCoding | 'identity', Buffer> } {
  // Weak: the same document has several forms.
  const tag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
  return { tag, forms: { identity: plain, gzip: gzipSync(plain, { level: 9 }), zstd: zstdCompressSync(plain) } }
}

/** RFC 9110 13.1.2: any of the tags that the caller has, compared without W/, or *. */
function isKnown(header: string | undefined, tag: string): boolean {
  const tags = header?.split(',').map((each) => each.trim().replace(/^W\//, ''))
  return tags?.some((each) => each === '*' || each === tag.replace(/^W\//, '')) ?? false
}
