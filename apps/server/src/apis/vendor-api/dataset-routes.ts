import { type Dataset, isDatasetName, limits } from '@bridgework/contract'
import type { FastifyInstance } from 'fastify'
import type { VendorApiContext } from './context.ts'
import { digestOf } from './digest.ts'
import { exportRecordsMax, sendExport } from './export.ts'
import type { LocationParams } from './list/disclosed-read.ts'
import { sendList } from './list/list.ts'
import { digestSchema, exportSchema, listSchema, recordSchema } from './openapi/schemas.ts'
import { sendRecord } from './record.ts'
import { recordBytes } from './request-turn.ts'

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
