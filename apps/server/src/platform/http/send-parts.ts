import type { FastifyReply } from 'fastify'
import { beginGzipMember, gzipMember, type PackedText } from '../gzip/gzip-member.ts'
import { giveBack } from '../memory/own-bytes.ts'
import { type BodyOptions, beginResponse, slices, unpack, withReader } from './send-body.ts'

export type PartsOptions = Pick<BodyOptions, 'beforeLastBytes' | 'onCut' | 'signal'> & {
  /**
   * Makes the next part when its reader took the last one; null: there is none. What it throws before the first byte is the answer. Own bytes are given back.
   */
  next: () => Promise<(PackedText | string)[] | null>
  /** What follows the last part. */
  last: () => string
  /** How the caller takes it packed; null: not at all. */
  coding: 'gzip' | null
  stallMs: number
  deadlineMs: number
}

/**
 * Sends a body part by part, so that one of them is in memory at a time, and cuts its reader as `sendBody` does. A body without its end is one
 * that was cut: in gzip the member's end is missing, and else the last chunk.
 */
export async function sendParts(reply: FastifyReply, options: PartsOptions): Promise<void> {
  const { next, last, coding } = options
  await withReader(reply, options, async (reader, release) => {
    const member = coding === null ? null : beginGzipMember()
    let part = await next()
    const response = beginResponse(reply)
    if (coding) response.setHeader('Content-Encoding', coding)
    while (part && !reader.isClosed()) {
      const bytes = member ? member.add(part) : await unpackPart(part)
      for (const text of part) if (typeof text !== 'string') giveBack(text.data)
      for (const slice of slices(bytes)) {
        if (reader.isClosed()) break
        await reader.takes((taken) => response.write(slice, taken))
      }
      if (!reader.isClosed()) giveBack(bytes)
      part = reader.isClosed() ? null : await next()
    }
    await release()
    if (reader.isClosed()) return
    const end = member ? Buffer.concat([member.add([last()]), member.end()]) : last()
    await reader.takes((taken) => response.end(end, taken))
  })
}

async function unpackPart(part: (PackedText | string)[]): Promise<Buffer> {
  const packed = gzipMember(part)
  const bytes = await unpack(packed)
  giveBack(packed)
  return bytes
}
