import { type DatasetName, getDataset, limits } from '@bridgework/contract'
import { ingestBodies, notesVersion } from '@bridgework/contract/ingest'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Pool } from 'pg'
import { hasNotesGranted } from '../../../modules/consent/notes.ts'
import { beginList, compareSlice, finishList } from '../../../modules/records/removals/complete-list.ts'
import { createListedIds } from '../../../modules/records/removals/listed-ids.ts'
import { reconcile } from '../../../modules/records/removals/reconcile.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { readJson } from '../../../platform/http/body/read-json.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import { keyOf, placeOf, protocolOf } from '../authorize.ts'
import { jsonBounds, requireType } from '../lines/body.ts'
import type { LargeBodies } from '../lines/large-bodies.ts'
import { takeLines } from '../lines/lines.ts'
import { serveBody } from '../serve.ts'
import { createSliceReader, sliceBounds } from './list-slice.ts'
import { createSourceIdReader } from './source-id-list.ts'

/** Complete lists: in slices, and in one body as agents sent them before. */
export function registerLists(
  app: FastifyInstance,
  deps: { pool: Pool; now: () => Date; log: Log },
  options: Pick<RouteOptions, 'config' | 'onRequest'> & { largeBodies: LargeBodies },
): void {
  serveBody(app, 'beginList', options, async (request, incoming) => {
    const body = readJson(ingestBodies.beginList, await incoming.json(jsonBounds))
    const { firstUpload } = placeOf(request)
    const list = { ...keyOf(request), beganAtUpload: String(body.began_at_upload), firstUpload }
    return { list_id: await beginList(deps, list) }
  })

  serveBody(app, 'sendListSlice', { ...options, bodyLimit: limits.uploadBytesMax }, async (request, incoming) => {
    requireType(request, 'application/x-ndjson', 'Send the lines as Content-Type: application/x-ndjson.')
    const reader = createSliceReader()
    await incoming.read((pieces) => takeLines(pieces, sliceBounds, reader))
    const key = keyOf(request)
    const { after, entries } = reader.slice()
    const comparable = (await knowsItsHashes(deps.pool, request, key.locationId, key.dataset))
      ? entries
      : entries.map(({ sourceId }) => ({ sourceId, hash: null }))
    return compareSlice(deps.pool, key, listIdOf(request), { after, entries: comparable })
  })

  serveBody(app, 'finishList', options, async (request, incoming) => {
    readJson(ingestBodies.finishList, await incoming.json(jsonBounds))
    return finishList(deps, keyOf(request), listIdOf(request))
  })

  serveBody(app, 'reconcile', { ...options, bodyLimit: limits.reconcileBytesMax }, async (request, incoming) => {
    requireType(request, 'application/json')
    const key = keyOf(request)
    const reader = createSourceIdReader()
    const listed = await createListedIds(deps.pool, key)
    await incoming.read(async (pieces) => {
      for await (const piece of pieces) listed.add(reader.take(piece))
    }, false)
    return reconcile(deps, { ...key, beganAtUpload: String(reader.end()), unlisted: listed.unlisted })
  })
}

/** An agent of an earlier version sends notes that are not stored, so its hashes tell nothing: keys alone are compared. */
async function knowsItsHashes(pool: Pool, request: FastifyRequest, locationId: LocationId, dataset: DatasetName) {
  if (protocolOf(request) >= notesVersion || getDataset(dataset).notes.length === 0) return true
  return await hasNotesGranted(pool, locationId, dataset)
}

function listIdOf(request: FastifyRequest): string {
  const { list_id: id } = request.params as { list_id: string }
  if (/^[1-9]\d{0,17}$/.test(id)) return id
  throw new Problem('list_unknown')
}
