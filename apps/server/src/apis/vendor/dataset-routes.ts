import { type Dataset, type DatasetName, isDatasetName, limits } from '@bridgework/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ReadPermit } from '../../modules/consent/read-permit.ts'
import { freshnessOf } from '../../modules/datasets/freshness.ts'
import { formatInstant } from '../../modules/datasets/stamp.ts'
import type { ReadDelta } from '../../modules/disclosure/disclosed-delta.ts'
import {
  type DeltaScope,
  findRestoredAt,
  isOfAnotherEpoch,
  latestMoment,
  refuseLost,
  type Since,
  scopeOf,
} from '../../modules/records/delta.ts'
import { readDigest } from '../../modules/records/digest.ts'
import { renderDetail } from '../../modules/records/document.ts'
import {
  emptyPage,
  extentOf,
  type PackedPage,
  type Page,
  pageOfAll,
  unpackedBytes,
} from '../../modules/records/page.ts'
import { findRecord } from '../../modules/records/read-store.ts'
import { isDelta, isWhole, type Selection, wholeDataset } from '../../modules/records/selection.ts'
import type { SyncType } from '../../modules/throttle/slot-operations.ts'
import type { Slot } from '../../modules/throttle/sync-slots.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { acceptedCoding, isOnePiece, sendBody } from '../../platform/http/send-body.ts'
import { rawQuery } from '../../platform/http/server.ts'
import { nextLink, type PageBody, packedBody, pageBody, pageEnvelope } from './answer.ts'
import type { VendorApiContext } from './context.ts'
import { disclose, filtersOf, headOnly, type LocationParams, permitOf } from './disclosed-read.ts'
import { exportRecordsMax, sendExport } from './export.ts'
import { onlyFields } from './fields.ts'
import { permitOfList } from './list-permit.ts'
import {
  epochHeader,
  type ListParameters,
  readDigestParameters,
  readRecordParameters,
  sinceParameter,
} from './parameters.ts'
import { keepBytes, recordBytes, widenTurn } from './request-turn.ts'
import { digestSchema, exportSchema, listSchema, recordSchema } from './schemas.ts'

/**
 * The list, the single record, the digest and the export of one dataset: permit, parameters, slot, page, disclosure, and only then the first byte. A HEAD
 * of a list, a digest or an export ends after the parameters: it reads nothing, so it counts nothing and takes no slot.
 */
export function registerDataset(app: FastifyInstance, context: VendorApiContext, dataset: Dataset): void {
  const { name } = dataset
  if (!isDatasetName(name)) throw new Error(`${name} is not in the contract's list`)
  const path = `/locations/:location_id/${name}`
  app.get<LocationParams>(path, { schema: listSchema(dataset), exposeHeadRoute }, (request, reply) =>
    sendList(context, dataset, name, request, reply),
  )
  const config = { answerBytesMax: dataset.detailAttributes ? limits.uploadLineBytesMax : 0 }
  app.get<LocationParams>(`${path}/:id`, { schema: recordSchema(dataset), exposeHeadRoute, config }, (request, reply) =>
    sendRecord(context, dataset, name, request, reply),
  )
  app.get<LocationParams>(`${path}/digest`, { schema: digestSchema(dataset), exposeHeadRoute }, (request, reply) =>
    digestOf(context, dataset, name, request, reply),
  )
  const ofExport = { schema: exportSchema(dataset), exposeHeadRoute, config: { answerBytesMax: exportBytesMax } }
  app.get<LocationParams>(`${path}/export`, ofExport, (request, reply) =>
    sendExport(context, dataset, name, request, reply),
  )
}

const exposeHeadRoute = true
/** One part of an export is in memory at a time. */
const exportBytesMax = exportRecordsMax * recordBytes

async function sendList(
  context: VendorApiContext,
  dataset: Dataset,
  name: DatasetName,
  request: FastifyRequest<LocationParams>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { permit, parameters, read } = await permitOfList(context, dataset, name, request)
  const since: Since = { moment: parameters.since, epoch: epochOf(request) }
  refuseLost(permit, since)
  refuseFuture(permit, since)
  if (request.method === 'HEAD') return headOnly(reply)
  const scope = scopeOf(permit, since)
  const restoredAt = scope.syncType === 'initial' ? await findRestoredAt(context.pool, permit, since) : null
  const lastContact = () => context.lastContactOf(permit.organizationId)
  const freshness = await freshnessOf(permit.state, permit.openTimes, lastContact, context.now())
  const answerOf = async (page: Page | PackedPage): Promise<Answer> => {
    const link = nextLink(dataset, parameters, page)
    const envelope = pageEnvelope(dataset, permit, parameters, scope, restoredAt, page, freshness, request.id)
    if ('parts' in page) return { link, body: { gzipped: await packedBody(page, envelope) } }
    return { link, body: pageBody(page, envelope, parameters.fields) }
  }
  // The page itself is named nowhere here: while a slow reader takes the packed body, it would stay in memory.
  const readOfScope = scope.syncType === 'incremental' ? read : null
  const { body, link, slot } = await readInSlot(
    context,
    dataset,
    permit,
    parameters,
    scope,
    readOfScope,
    request,
    answerOf,
  )
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

async function sendRecord(
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

/**
 * A disclosure, however many records it covers: the digests of two overlapping runs of records differ by that of a single one, and what a
 * record says can be guessed until its digest is right. Reads as much as a page of the whole dataset, and more, so it takes such a slot.
 */
async function digestOf(
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

/** A moment that lies ahead comes from a clock that is wrong: answered, it would lose what changes until then. */
function refuseFuture(permit: ReadPermit, since: Since): void {
  // Of another epoch the clock may have been another one too.
  if (since.moment === null || since.moment <= latestMoment(permit) || isOfAnotherEpoch(permit, since)) return
  throw new Problem('parameter_invalid', {
    errors: `${sinceParameter} lies in the future: the server's time is ${formatInstant(permit.databaseNow)}. Pass back meta.next_fetch_modified_since, or the answer's Date.`,
  })
}

/** The epoch that the caller's moment is of, as it says; null: it says none. */
function epochOf(request: FastifyRequest): string | null {
  const text = request.headers[epochHeader]
  return typeof text === 'string' ? text : null
}

type Answer = { body: PageBody; link: string | undefined }

/**
 * Makes the answer of the page that it reads while its location holds a slot, and puts on record what it sends, and how many records a filter by patient or start
 * matches: asked often enough, counts say all. The slot is the caller's to give back; null: there is none. An answer that is known already, because nothing of
 * the dataset changed, tells nothing of a record and needs no slot: taking and returning one at the same moment is asking whether there is one.
 * An answer that goes out in one piece gives its slot back while its disclosure is put on record: it waits for the longer of the two, not for both.
 */
async function readInSlot(
  context: VendorApiContext,
  dataset: Dataset,
  permit: ReadPermit,
  parameters: ListParameters,
  scope: DeltaScope,
  read: ReadDelta | null,
  request: FastifyRequest,
  answerOf: (page: Page | PackedPage) => Promise<Answer>,
): Promise<Answer & { slot: Slot | null }> {
  if (scope.isEmpty) {
    const inFlight = scope.syncType === 'incremental' ? permit.locationsInFlight : undefined
    await context.slots.check(permit.companyId, scope.syncType, permit.locationId, inFlight)
    return { ...(await answerOf(emptyPage)), slot: null }
  }
  const { patientId, startsFrom, startsTo, fields, after } = parameters
  const selection: Selection = { modifiedAfter: scope.modifiedAfter, patientId, startsFrom, startsTo }
  const isCursor = dataset.pagination === 'cursor'
  const {
    page,
    isOnRecord,
    slot: taken,
  } = await takeAndRead(context, permit, selection, parameters, scope.syncType, isCursor, read, request)
  let slot = taken
  try {
    // Known now, and much less than a page may have: others need not wait until this one is disclosed.
    if ('parts' in page) keepBytes(request, unpackedBytes(page))
    const { records, lastId } = extentOf(page)
    const coverage =
      (isCursor && isWhole(selection)) || !('documents' in page)
        ? { afterId: after, lastId: lastId ?? after }
        : { ids: page.documents.map(([id]) => id) }
    const counted = isDelta(selection) ? null : page.total
    const putOnRecord = async () => {
      if (!isOnRecord && (records > 0 || counted !== null)) {
        const filters = filtersOf(selection, fields)
        await disclose(context, permit, request, { filters, coverage, records, counted })
      }
      request.logNotes.records = records
    }
    if ('documents' in page) {
      const answer = await answerOf(page)
      const inOnePiece = isOnePiece(answer.body)
      // It is in flight for as long as its reader takes.
      if (!inOnePiece) slot ??= await context.slots.acquire(permit.companyId, scope.syncType, permit.locationId)
      await Promise.all([putOnRecord(), inOnePiece && slot?.release()])
      // One that was lost meanwhile ends the answer.
      return { ...answer, slot: inOnePiece && !slot?.signal.aborted ? null : slot }
    }
    await putOnRecord()
    return { ...(await answerOf(page)), slot }
  } catch (error) {
    await slot?.release()
    throw error
  }
}

/** A page and the slot that its location holds. A delta that was read with its permit takes none: that there is a free one is enough. */
async function takeAndRead(
  context: VendorApiContext,
  permit: ReadPermit,
  selection: Selection,
  parameters: ListParameters,
  syncType: SyncType,
  isCursor: boolean,
  read: ReadDelta | null,
  request: FastifyRequest,
): Promise<{ page: Page | PackedPage; isOnRecord: boolean; slot: Slot | null }> {
  const { companyId, locationId, locationsInFlight } = permit
  if (read) {
    const isLate = read.waitedMs >= countedForMs
    await context.slots.check(companyId, syncType, locationId, isLate ? undefined : locationsInFlight)
    return { page: pageOfAll(read.documents), isOnRecord: read.isOnRecord, slot: null }
  }
  if (parameters.since !== null) await widenTurn(context, request, Math.min(parameters.items, permit.state.total))
  const slot = await context.slots.acquire(companyId, syncType, locationId)
  try {
    return { page: await readPage(context, permit, selection, parameters, isCursor), isOnRecord: false, slot }
  } catch (error) {
    await slot.release()
    throw error
  }
}

function readPage(
  { pages }: VendorApiContext,
  permit: ReadPermit,
  selection: Selection,
  { after, page, items, fields }: ListParameters,
  isCursor: boolean,
): Promise<Page | PackedPage> {
  if (!isCursor) return pages.readPage(permit, selection, page, items)
  const isPacked = isWhole(selection) && fields === null
  return isPacked ? pages.readPacked(permit, after, items) : pages.readAfter(permit, selection, after, items)
}

/** What a permit says of requests in flight is believed for so long; a delta that took longer asks again. */
const countedForMs = 100
