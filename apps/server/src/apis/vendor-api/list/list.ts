import type { Dataset, DatasetName } from '@bridgework/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Slot } from '../../../modules/throttle/sync-slots.ts'
import { acceptedCoding, isOnePiece, sendBody } from '../../../platform/http/send-body.ts'
import type { VendorApiContext } from '../context.ts'
import { keepBytes } from '../request-turn.ts'
import { type Answer, answerOf } from './answer.ts'
import { discloseList } from './disclose.ts'
import { headOnly, type LocationParams } from './disclosed-read.ts'
import { readPage } from './page.ts'
import { type ListRequest, permitList } from './permit.ts'
import { acquireSlot, takeSlot } from './slot.ts'

/** One page of a dataset: permit, parameters, slot, page, disclosure, and only then the first byte. */
export async function sendList(
  context: VendorApiContext,
  dataset: Dataset,
  name: DatasetName,
  request: FastifyRequest<LocationParams>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const list = await permitList(context, dataset, name, request)
  if (request.method === 'HEAD') return headOnly(reply)
  // The page itself is named nowhere here: while a slow reader takes the packed body, it would stay in memory.
  const { body, link, slot } = await answerInSlot(list)
  if (link !== undefined) reply.header('Link', link)
  try {
    await sendBody(reply, {
      body,
      onHeld: (bytes) => keepBytes(request, bytes),
      coding: acceptedCoding(request.headers['accept-encoding'], 'gzipped' in body ? 'gzip' : 'zstd'),
      ...(slot && { beforeLastBytes: slot.release, signal: slot.signal }),
      ...context.reader,
      onCut: (because) => context.log({ event: 'response.cut', requestId: request.id, because }),
    })
  } finally {
    await slot?.release()
  }
  return reply
}

/**
 * Reads the page while its location holds a slot, makes the answer of it, and puts on record what it sends. The slot is the caller's to give back; null:
 * there is none. An answer that goes out in one piece gives its slot back while its disclosure is put on record: it waits for the longer of the two,
 * not for both.
 */
async function answerInSlot(list: ListRequest): Promise<Answer & { slot: Slot | null }> {
  let slot = await takeSlot(list)
  try {
    const page = await readPage(list)
    const answer = await answerOf(list, page)
    const inOnePiece = isOnePiece(answer.body)
    // It is in flight for as long as its reader takes.
    if (!inOnePiece) slot ??= await acquireSlot(list)
    await Promise.all([discloseList(list, page), inOnePiece && slot?.release()])
    // One that was lost meanwhile ends the answer.
    return { ...answer, slot: inOnePiece && !slot?.signal.aborted ? null : slot }
  } catch (error) {
    await slot?.release()
    throw error
  }
}
