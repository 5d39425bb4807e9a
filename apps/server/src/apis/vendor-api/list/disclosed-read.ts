import { type Dataset, type DatasetName, getDataset } from '@bridgework/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { permitRead, type ReadPermit } from '../../../modules/consent/read-permit.ts'
import { formatMoment } from '../../../modules/datasets/instant.ts'
import { formatMicros } from '../../../modules/datasets/stamp.ts'
import type { DisclosureEntry } from '../../../modules/disclosure/store.ts'
import type { Selection } from '../../../modules/records/read/selection.ts'
import { sendHead } from '../../../platform/http/send-body.ts'
import type { VendorApiContext } from '../context.ts'
import { tokenOf } from '../token/authenticate.ts'

/** What the paths of a location's datasets hold. */
export type LocationParams = { Params: { location_id: string; id: string } }

/** The permit of a request for a dataset. */
export async function permitOf(
  context: VendorApiContext,
  dataset: Dataset,
  name: DatasetName,
  request: FastifyRequest<LocationParams>,
): Promise<ReadPermit> {
  const permit = await permitRead(context.controlPool, tokenOf(request), request.params.location_id, name, {
    previewOff: isOff(context, dataset, name),
    drawOn: context.pool,
  })
  context.seenStamps.note(permit.locationId, name, permit.state.lastStamp)
  return permit
}

/** Whether a dataset is a preview that is off. */
export function isOff(context: VendorApiContext, dataset: Dataset, name: DatasetName): boolean {
  return dataset.preview && !context.previewDatasets.has(name)
}

/** Puts on record what an answer sends, before its first byte. */
export function disclose(
  context: VendorApiContext,
  permit: ReadPermit,
  request: FastifyRequest,
  disclosed: Pick<DisclosureEntry, 'filters' | 'coverage'> & Partial<DisclosureEntry>,
): Promise<void> {
  const { records = 0, digested = null, filters } = disclosed
  const asksForNotes = mayHaveNotes(getDataset(permit.dataset), Array.isArray(filters.fields) ? filters.fields : null)
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

/** Whether an answer of these attributes (null: all) may contain notes, where they are granted. */
export function mayHaveNotes(dataset: Dataset, fields: readonly string[] | null): boolean {
  return dataset.notes.some((name) => fields === null || fields.includes(name))
}

/** Ends the answer to a HEAD. */
export function headOnly(reply: FastifyReply): FastifyReply {
  sendHead(reply)
  return reply
}

/** What of a request is put on record beside the ids: moments, our own ids and names of attributes, so nothing of a patient's. */
export function filtersOf(selection: Selection, fields: readonly string[] | null): Record<string, unknown> {
  const { modifiedAfter, patientId, startsFrom, startsTo } = selection
  return {
    ...(modifiedAfter !== null && { modified_after: formatMicros(modifiedAfter) }),
    ...(patientId !== null && { patient_id: patientId }),
    ...(startsFrom !== null && { starts_from: formatMoment(startsFrom) }),
    ...(startsTo !== null && { starts_to: formatMoment(startsTo) }),
    ...(fields !== null && { fields }),
  }
}
