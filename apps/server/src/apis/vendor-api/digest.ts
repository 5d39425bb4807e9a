import type { Dataset, DatasetName } from '@bridgework/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readDigest } from '../../modules/records/read/digest.ts'
import { rawQuery } from '../../platform/http/server.ts'
import type { VendorApiContext } from './context.ts'
import { disclose, headOnly, type LocationParams, permitOf } from './list/disclosed-read.ts'
import { readDigestParameters } from './parameters.ts'

/**
 * A disclosure, however many records it covers: the digests of two overlapping runs of records differ by that of a single one, and what a
 * record says can be guessed until its digest is right. Reads as much as a page of the whole dataset, and more, so it takes such a slot.
 */
export async function digestOf(
  context: VendorApiContext,
  dataset: Dataset,
  name: DatasetName,
  request: FastifyRequest<LocationParams>,
  reply: FastifyReply,
) {
  const permit = await permitOf(context, dataset, name, request)
  const { after } = readDigestParameters(rawQuery(request))
  if (request.method === 'HEAD') return headOnly(reply)
  const slot = await context.slots.acquire(permit.companyId, 'initial', permit.locationId)
  try {
    const { ranges, nextAfter } = await readDigest(context.pool, permit, after)
    const lastId = ranges.at(-1)?.lastId
    if (lastId !== undefined) {
      const digested = ranges.reduce((sum, { records }) => sum + records, 0)
      await disclose(context, permit, request, { filters: {}, coverage: { afterId: after, lastId }, digested })
    }
    const data = ranges.map(({ afterId, lastId, records, sha256 }) => ({
      id: lastId,
      type: 'digest_range',
      attributes: { after_id: afterId, last_id: lastId, records, sha256 },
    }))
    const { epoch } = permit
    return { data, meta: { has_more: nextAfter !== null, next_after: nextAfter, epoch, request_id: request.id } }
  } finally {
    await slot.release()
  }
}
