import type { Dataset, DatasetName } from '@bridgework/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReadPermit } from '../../modules/consent/read-permit.ts'
import { freshnessOf } from '../../modules/datasets/freshness.ts'
import { watermarkAfter } from '../../modules/datasets/stamp.ts'
import { extentOf, type PackedPage, type Page, unpackedBytes } from '../../modules/records/read/page.ts'
import { type PackedText, packText } from '../../platform/gzip/gzip-member.ts'
import { switchToLines } from '../../platform/gzip/packed-run.ts'
import { acceptedCoding } from '../../platform/http/send-body.ts'
import { sendParts } from '../../platform/http/send-parts.ts'
import { rawQuery } from '../../platform/http/server.ts'
import type { VendorApiContext } from './context.ts'
import { disclose, headOnly, type LocationParams, permitOf } from './list/disclosed-read.ts'
import { readExportParameters } from './parameters.ts'
import { keepBytes } from './request-turn.ts'

/** Records of a part: each is permitted, read and disclosed on its own, and in memory alone. */
export const exportRecordsMax = 2_500

/**
 * Every record of a dataset after `after`, one on each line, and a last line that says whether that is all. Part by part: a permit, so that a
 * grant that ends also ends this; the records; their disclosure; and only then their first byte. Ends by itself with `has_more` before a reader
 * that is slow would be cut, so that no request holds its slot for longer than a page may.
 */
export async function sendExport(
  context: VendorApiContext,
  dataset: Dataset,
  name: DatasetName,
  request: FastifyRequest<LocationParams>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const first = await permitOf(context, dataset, name, request)
  const { after } = readExportParameters(rawQuery(request), dataset)
  reply.type('application/x-ndjson; charset=utf-8')
  if (request.method === 'HEAD') return headOnly(reply)
  const { stallMs = 25_000, deadlineMs = 55_000, partRecords = exportRecordsMax } = context.reader
  const endsAt = performance.now() + deadlineMs * shareOfTime
  // Only what was asked for from its beginning has a moment from which a delta goes on.
  const watermark = after === '0' ? watermarkAfter(first.state.lastStamp) : null
  if (watermark !== null) reply.header('X-Next-Fetch-Modified-Since', watermark)
  reply.header('X-Total', first.state.total)
  reply.header('X-Epoch', first.epoch)
  const lastContact = () => context.lastContactOf(first.organizationId)
  const freshness = await freshnessOf(first.state, first.openTimes, lastContact, context.now())

  let permit: ReadPermit | null = first
  let [position, records, hasMore, largest] = [after, 0, true, 0]
  const next = async () => {
    if (!hasMore || performance.now() > endsAt) return null
    permit ??= await permitOf(context, dataset, name, request)
    // What follows is of another database. The caller asks for it, and learns of which epoch it is.
    if (permit.epoch !== first.epoch) return null
    const page = await context.pages.readLines(permit, position, partRecords)
    largest = Math.max(largest, bytesOf(page))
    keepBytes(request, largest)
    const { records: read, lastId } = extentOf(page)
    hasMore = page.hasMore
    if (lastId === null) return null
    await disclose(context, permit, request, { filters: {}, coverage: { afterId: position, lastId }, records: read })
    records += read
    position = lastId
    permit = null
    request.logNotes.records = records
    return await linesOf(page)
  }
  const last = () => {
    const meta = {
      has_more: hasMore,
      next_after: hasMore ? position : null,
      records,
      next_fetch_modified_since: watermark,
      epoch: first.epoch,
      freshness: { synced_at: first.state.syncedAt?.toISOString() ?? null, state: freshness },
      request_id: request.id,
    }
    return `${JSON.stringify({ meta })}\n`
  }

  const slot = await context.slots.acquire(first.companyId, 'initial', first.locationId)
  try {
    await sendParts(reply, {
      next,
      last,
      coding: acceptedCoding(request.headers['accept-encoding'], 'gzip') === 'gzip' ? 'gzip' : null,
      beforeLastBytes: slot.release,
      signal: slot.signal,
      stallMs,
      deadlineMs,
      onCut: (because) => context.log({ event: 'response.cut', requestId: request.id, because }),
    })
  } finally {
    await slot.release()
  }
  return reply
}

/** An export ends after this share of the time after which its reader is cut: the rest is for the reader to take the last part. */
const shareOfTime = 0.7

/** About how much a part is, unpacked. */
function bytesOf(page: Page | PackedPage): number {
  return 'parts' in page ? unpackedBytes(page) : page.documents.reduce((sum, [, document]) => sum + document.length, 0)
}

/** The records of a part as lines: segments as they are stored, but for one byte, and the documents between them packed. */
async function linesOf(page: Page | PackedPage): Promise<(PackedText | string)[]> {
  const parts = 'parts' in page ? page.parts : page.documents.map(([lastId, document]) => ({ lastId, document }))
  const lines: (PackedText | string)[] = []
  let documents: string[] = []
  const packDocuments = async () => {
    if (documents.length > 0) lines.push(await packText(`${documents.join('\n')}\n`, 1))
    documents = []
  }
  for (const part of parts) {
    if ('document' in part) {
      documents.push(part.document)
      continue
    }
    await packDocuments()
    if (!part.packed.lines) throw new Error('a segment was read that cannot be lines')
    lines.push(switchToLines(part.packed, part.packed.lines), '\n')
  }
  await packDocuments()
  return lines
}
