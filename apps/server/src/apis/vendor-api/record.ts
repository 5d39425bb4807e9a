import type { Dataset, DatasetName } from '@bridgework/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findRecord } from '../../modules/records/read/read-store.ts'
import { wholeDataset } from '../../modules/records/read/selection.ts'
import { renderDetail } from '../../modules/records/write/document.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { acceptedCoding, sendBody } from '../../platform/http/send-body.ts'
import { rawQuery } from '../../platform/http/server.ts'
import type { VendorApiContext } from './context.ts'
import { disclose, filtersOf, headOnly, type LocationParams, permitOf } from './list/disclosed-read.ts'
import { onlyFields } from './list/fields.ts'
import { readRecordParameters } from './parameters.ts'
import { keepBytes } from './request-turn.ts'

/** A single record, with the attributes that lists leave out. */
export async function sendRecord(
  context: VendorApiContext,
  dataset: Dataset,
  name: DatasetName,
  request: FastifyRequest<LocationParams>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const permit = await permitOf(context, dataset, name, request)
  const { fields } = readRecordParameters(rawQuery(request), dataset)
  const { id } = request.params
  const isId = /^[1-9]\d{0,18}$/.test(id) && BigInt(id) < 2n ** 63n
  const record = isId ? await findRecord(context.pool, permit, id) : null
  if (!record) throw new Problem('record_unknown')
  // That there is such a record is all that a HEAD tells.
  const isHead = request.method === 'HEAD'
  const disclosed = isHead ? { records: 0, counted: 1 } : { records: 1 }
  await disclose(context, permit, request, {
    filters: filtersOf(wholeDataset, fields),
    coverage: { ids: [id] },
    ...disclosed,
  })
  request.logNotes.records = disclosed.records
  if (isHead) return headOnly(reply)
  const data = onlyFields(renderDetail(dataset, record.document, record.source), fields)
  await sendBody(reply, {
    body: `{"data":${data},"meta":${JSON.stringify({ epoch: permit.epoch, request_id: request.id })}}`,
    onHeld: (bytes) => keepBytes(request, bytes),
    coding: acceptedCoding(request.headers['accept-encoding']),
  })
  return reply
}
