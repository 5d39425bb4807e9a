import type { Dataset, DatasetName } from '@bridgework/contract'
import type { FastifyRequest } from 'fastify'
import type { ReadPermit } from '../../../modules/consent/read-permit.ts'
import { deltaOverlapMicros, formatInstant } from '../../../modules/datasets/stamp.ts'
import { type AskedDelta, fewMax, type ReadDelta } from '../../../modules/disclosure/disclosed-delta.ts'
import {
  type DeltaScope,
  isOfAnotherEpoch,
  latestMoment,
  refuseLost,
  type Since,
  scopeOf,
} from '../../../modules/records/read/delta.ts'
import { isDelta, type Selection } from '../../../modules/records/read/selection.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { rawQuery } from '../../../platform/http/server.ts'
import { type LocationId, parseNumericId } from '../../../platform/identity/identity.ts'
import type { VendorApiContext } from '../context.ts'
import { epochHeader, type ListParameters, readListParameters, since as sinceParameter } from '../parameters.ts'
import { tokenOf } from '../token/authenticate.ts'
import { filtersOf, isOff, type LocationParams, mayHaveNotes, permitOf } from './disclosed-read.ts'

/** A vendor's request for a list, after permit and parameters. All further steps are functions of it. */
export type ListRequest = {
  context: VendorApiContext
  dataset: Dataset
  request: FastifyRequest<LocationParams>
  permit: ReadPermit
  parameters: ListParameters
  since: Since
  scope: DeltaScope
  selection: Selection
  /** The records of a small delta, which were read with the permit; null: they were not. */
  read: ReadDelta | null
}

/**
 * The permit of a list, and what it asks for. A delta of which this process has seen a change, stored or read by others, most likely has records: then
 * they are read and put on record with the permit.
 */
export async function permitList(
  context: VendorApiContext,
  dataset: Dataset,
  name: DatasetName,
  request: FastifyRequest<LocationParams>,
): Promise<ListRequest> {
  const parameters = parametersOrRefusal(request, dataset)
  const delta = changedDelta(context, dataset, name, request, parameters)
  const { permit, read } = delta
    ? await context.deltas.permit(tokenOf(request), request.params.location_id, name, delta)
    : { permit: await permitOf(context, dataset, name, request), read: null }
  if (delta) context.seenStamps.note(permit.locationId, name, permit.state.lastStamp)
  // A caller who may not read the dataset learns that, and nothing of the parameters.
  if (parameters instanceof Problem) throw parameters
  const since = { moment: parameters.since, epoch: epochOf(request) }
  refuseLost(permit, since)
  refuseFuture(permit, since)
  const scope = scopeOf(permit, since)
  const { patientId, startsFrom, startsTo } = parameters
  const selection = { modifiedAfter: scope.modifiedAfter, patientId, startsFrom, startsTo }
  const isRead = scope.syncType === 'incremental'
  return { context, dataset, request, permit, parameters, since, scope, selection, read: isRead ? read : null }
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

/** The epoch that the caller's moment is of, as it says; null: it says none. */
function epochOf(request: FastifyRequest): string | null {
  const text = request.headers[epochHeader]
  return typeof text === 'string' ? text : null
}

/** A moment that lies ahead comes from a clock that is wrong: answered, it would lose what changes until then. */
function refuseFuture(permit: ReadPermit, since: Since): void {
  // Of another epoch the clock may have been another one too.
  if (since.moment === null || since.moment <= latestMoment(permit) || isOfAnotherEpoch(permit, since)) return
  throw new Problem('parameter_invalid', {
    errors: `${sinceParameter.name} lies in the future: the server's time is ${formatInstant(permit.databaseNow)}. Pass back meta.next_fetch_modified_since, or the answer's Date.`,
  })
}
