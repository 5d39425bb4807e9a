import type { Dataset, DatasetName } from '@bridgework/contract'
import type { FastifyRequest } from 'fastify'
import type { ReadPermit } from '../../../modules/consent/read-permit.ts'
import { deltaOverlapMicros, formatInstant } from '../../../modules/datasets/stamp.ts'
import {
  type AskedSmallRead,
  type SmallRead,
  smallDeltaMax,
  smallPageMax,
} from '../../../modules/disclosure/small-read.ts'
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
  /** The records that were read with the permit; null: they were not. */
  read: SmallRead | null
}

/**
 * The permit of a list, and what it asks for. A small page is read and put on record with the permit, and so is a delta of which this process has seen a
 * change, stored or read by others: it most likely has records.
 */
export async function permitList(
  context: VendorApiContext,
  dataset: Dataset,
  name: DatasetName,
  request: FastifyRequest<LocationParams>,
): Promise<ListRequest> {
  const parameters = parametersOrRefusal(request, dataset)
  const asked = askedSmallRead(context, dataset, name, request, parameters)
  const { permit, read } = asked
    ? await context.smallReads.permit(tokenOf(request), request.params.location_id, name, asked)
    : { permit: await permitOf(context, dataset, name, request), read: null }
  if (asked) context.seenStamps.note(permit.locationId, name, permit.state.lastStamp)
  // A caller who may not read the dataset learns that, and nothing of the parameters.
  if (parameters instanceof Problem) throw parameters
  const since = { moment: parameters.since, epoch: epochOf(request) }
  refuseLost(permit, since)
  refuseFuture(permit, since)
  const scope = scopeOf(permit, since)
  const { patientId, startsFrom, startsTo } = parameters
  const selection = { modifiedAfter: scope.modifiedAfter, patientId, startsFrom, startsTo }
  // A delta that is answered whole was read as a delta.
  const isRead = (scope.syncType === 'incremental') === (since.moment !== null)
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

/**
 * What a list asks for where its records are read with its permit: a small page of the whole dataset, or a delta from its beginning that is probably not
 * empty; else null.
 */
function askedSmallRead(
  context: VendorApiContext,
  dataset: Dataset,
  name: DatasetName,
  request: FastifyRequest<LocationParams>,
  parameters: ListParameters | Problem,
): AskedSmallRead | null {
  if (parameters instanceof Problem || request.method === 'HEAD') return null
  const { since, after, items, patientId, startsFrom, startsTo, fields } = parameters
  const modifiedAfter = since === null ? null : since - deltaOverlapMicros
  const selection: Selection = { modifiedAfter, patientId, startsFrom, startsTo }
  const locationId = parseNumericId<LocationId>(request.params.location_id)
  if (dataset.pagination !== 'cursor' || !isDelta(selection) || locationId === null || isOff(context, dataset, name))
    return null
  const isPage = modifiedAfter === null
  const isSmall = isPage
    ? items <= smallPageMax
    : after === '0' && items >= smallDeltaMax && context.seenStamps.hasAfter(locationId, name, modifiedAfter)
  if (!isSmall) return null
  return {
    modifiedAfter,
    after,
    items: isPage ? items : smallDeltaMax,
    filters: filtersOf(selection, fields),
    asksForNotes: mayHaveNotes(dataset, fields),
    locationsMax: context.slots.limits[isPage ? 'initial' : 'incremental'],
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
    broken: { parameter: sinceParameter.name, rule: 'not_future' },
  })
}
