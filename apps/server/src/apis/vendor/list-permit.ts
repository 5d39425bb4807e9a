import type { Dataset, DatasetName } from '@bridgework/contract'
import type { FastifyRequest } from 'fastify'
import type { ReadPermit } from '../../modules/consent/read-permit.ts'
import { deltaOverlapMicros } from '../../modules/datasets/stamp.ts'
import { type AskedDelta, fewMax, type ReadDelta } from '../../modules/disclosure/disclosed-delta.ts'
import { isDelta, type Selection } from '../../modules/records/selection.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { rawQuery } from '../../platform/http/server.ts'
import { type LocationId, parseNumericId } from '../../platform/identity/identity.ts'
import { tokenOf } from './authenticate.ts'
import type { VendorApiContext } from './context.ts'
import { filtersOf, isOff, type LocationParams, mayHaveNotes, permitOf } from './disclosed-read.ts'
import { type ListParameters, readListParameters } from './parameters.ts'

/**
 * The permit of a list, and its parameters. A delta of which this process has seen a change, stored or read by others, most likely has records: then
 * they are read and put on record with the permit. `read`: null where they were not, for whatever reason.
 */
export async function permitOfList(
  context: VendorApiContext,
  dataset: Dataset,
  name: DatasetName,
  request: FastifyRequest<LocationParams>,
): Promise<{ permit: ReadPermit; parameters: ListParameters; read: ReadDelta | null }> {
  const parameters = parametersOrRefusal(request, dataset)
  const delta = changedDelta(context, dataset, name, request, parameters)
  const { permit, read } = delta
    ? await context.deltas.permit(tokenOf(request), request.params.location_id, name, delta)
    : { permit: await permitOf(context, dataset, name, request), read: null }
  context.seenStamps.note(permit.locationId, name, permit.state.lastStamp)
  // A caller who may not read the dataset learns that, and nothing of the parameters.
  if (parameters instanceof Problem) throw parameters
  return { permit, parameters, read }
}

function parametersOrRefusal(request: FastifyRequest, dataset: Dataset): ListParameters | Problem {
  try {
    return readListParameters(rawQuery(request), dataset)
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/** What a list asks for where it is a delta from its beginning that one small answer may hold, and that is probably not empty; else null. */
function changedDelta(
  context: VendorApiContext,
  dataset: Dataset,
  name: DatasetName,
  request: FastifyRequest<LocationParams>,
  parameters: ListParameters | Problem,
): AskedDelta | null {
  if (parameters instanceof Problem || parameters.since === null || request.method === 'HEAD') return null
  const { after, items, patientId, startsFrom, startsTo, fields } = parameters
  const modifiedAfter = parameters.since - deltaOverlapMicros
  const selection: Selection = { modifiedAfter, patientId, startsFrom, startsTo }
  const isOneAnswer = dataset.pagination === 'cursor' && after === '0' && items >= fewMax && isDelta(selection)
  const locationId = parseNumericId<LocationId>(request.params.location_id)
  if (!isOneAnswer || locationId === null || isOff(context, dataset, name)) return null
  if (!context.seenStamps.hasAfter(locationId, name, modifiedAfter)) return null
  return {
    modifiedAfter,
    filters: filtersOf(selection, fields),
    asksForNotes: mayHaveNotes(dataset, fields),
    locationsMax: context.slots.limits.incremental,
    requestId: request.id,
    ip: request.clientIp,
  }
}
