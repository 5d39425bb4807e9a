import { type Dataset, type DatasetName, getDataset } from '@bridgework/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { permitRead, type ReadPermit } from '../../modules/consent/read-permit.ts'
import type { DisclosureEntry } from '../../modules/disclosure/store.ts'
import { sendHead } from '../../platform/http/send-body.ts'
import { tokenOf } from './authenticate.ts'
import type { VendorApiContext } from './context.ts'

/** What the paths of a location's datasets hold. */
export type LocationParams = { Params: { location_id: string; id: string } }

/** The permit of a request for a dataset. */
export function permitOf(
  context: VendorApiContext,
  dataset: Dataset,
  name: DatasetName,
  request: FastifyRequest<LocationParams>,
) {
  const previewOff = dataset.preview && !context.previewDatasets.has(name)
  return permitRead(context.controlPool, tokenOf(request), request.params.location_id, name, {
    previewOff,
    drawOn: context.pool,
  })
}

/** Puts on record what an answer sends, before its first byte. */
export function disclose(
  context: VendorApiContext,
  permit: ReadPermit,
  request: FastifyRequest,
  disclosed: Pick<DisclosureEntry, 'filters' | 'coverage'> & Partial<DisclosureEntry>,
): Promise<void> {
  const { records = 0, digested = null, filters } = disclosed
  const fields = Array.isArray(filters.fields) ? filters.fields : null
  const asksForNotes = getDataset(permit.dataset).notes.some((name) => fields === null || fields.includes(name))
  return context.disclosures.record({
    companyId: permit.companyId,
    keyPairId: permit.keyPairId,
    locationId: permit.locationId,
    dataset: permit.dataset,
    notes: permit.notes && asksForNotes && (records > 0 || digested !== null),
    counted: null,
    ...disclosed,
    records,
    digested,
    requestId: request.id,
    ip: request.clientIp,
  })
}

/** Ends the answer to a HEAD. */
export function headOnly(reply: FastifyReply): FastifyReply {
  sendHead(reply)
  return reply
}
