import type { FastifyReply } from 'fastify'
import { beginGzipMember, gzipMember, type PackedText } from '../gzip/gzip-member.ts'
import { type BodyOptions, beginResponse, free, once, slices, unpack, watchReader } from './send-body.ts'

export type PartsOptions = Pick<BodyOptions, 'beforeLastBytes' | 'onCut' | 'signal'> & {
  /** Makes the next part when its reader took the last one; null: there is none. What it throws before the first byte is the answer. */
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
  const release = once(options.beforeLastBytes ?? (async () => {}))
  const watch = watchReader(reply, { signal: undefined, onCut: undefined, ...options })
  try {
    const member = coding === null ? null : beginGzipMember()
    let part = await next()
    const response = beginResponse(reply)
    if (coding) response.setHeader('Content-Encoding', coding)
    while (part && !watch.isClosed()) {
      const bytes = member ? member.add(part) : await unpack(gzipMember(part))
      for (const slice of slices(bytes)) {
        if (watch.isClosed()) break
        await Promise.race([watch.closed, new Promise<void>((taken) => response.write(slice, () => taken()))])
      }
      if (!member && !watch.isClosed()) free(bytes)
      part = watch.isClosed() ? null : await next()
    }
    await release()
    if (watch.isClosed()) return
    const end = member ? Buffer.concat([member.add([last()]), member.end()]) : last()
    await Promise.race([watch.closed, new Promise<void>((taken) => response.end(end, () => taken()))])
  } catch (error) {
    // Before the first byte the error handler answers; after it, only a broken connection tells the caller that the body is not whole.
    if (!reply.sent) throw error
    reply.raw.destroy()
  } finally {
    watch.stop()
    await release()
  }
}
