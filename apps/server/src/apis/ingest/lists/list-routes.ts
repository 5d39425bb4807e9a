import { limits } from '@bridgework/contract'
import { ingestBodies } from '@bridgework/contract/ingest'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Pool } from 'pg'
import { beginList, compareSlice, finishList } from '../../../modules/records/removals/complete-list.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { readJson } from '../../../platform/http/body/read-json.ts'
import type { Log } from '../../../platform/log/log-event.ts'
import { keyOf, placeOf } from '../authorize.ts'
import { jsonBounds, requireType } from '../lines/body.ts'
import type { LargeBodies } from '../lines/large-bodies.ts'
import { takeLines } from '../lines/lines.ts'
import { serveBody } from '../serve.ts'
import { createSliceReader, sliceBounds } from './list-slice.ts'

/** Complete lists, in slices. */
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
    return compareSlice(deps.pool, keyOf(request), listIdOf(request), reader.slice())
  })

  serveBody(app, 'finishList', options, async (request, incoming) => {
    readJson(ingestBodies.finishList, await incoming.json(jsonBounds))
    return finishList(deps, keyOf(request), listIdOf(request))
  })
}

function listIdOf(request: FastifyRequest): string {
  const { list_id: id } = request.params as { list_id: string }
  if (/^[1-9]\d{0,17}$/.test(id)) return id
  throw new Problem('list_unknown')
}
