import type { Dataset } from '@bridgework/contract'
import { freshnessOf } from '../../../modules/datasets/freshness.ts'
import { watermarkAfter } from '../../../modules/datasets/stamp.ts'
import { findRestoredAt } from '../../../modules/records/read/delta.ts'
import { extentOf, type PackedPage, type Page } from '../../../modules/records/read/page.ts'
import { gzipMember, type PackedText, packText } from '../../../platform/gzip/gzip-member.ts'
import { giveBack } from '../../../platform/memory/own-bytes.ts'
import type { ListParameters } from '../parameters.ts'
import { onlyFields } from './fields.ts'
import type { ListRequest } from './permit.ts'

/** A page as `sendBody` takes it, and its `Link` header to the next page, relative to the request; undefined on the last one. */
export type Answer = { body: string[] | { gzipped: Buffer }; link: string | undefined }

export async function answerOf(list: ListRequest, page: Page | PackedPage): Promise<Answer> {
  const { dataset, parameters } = list
  const link = nextLink(dataset, parameters, page)
  const envelope = await envelopeOf(list, page)
  if ('parts' in page) return { link, body: { gzipped: await packedBody(page, envelope) } }
  return { link, body: pageBody(page, envelope, parameters.fields) }
}

/** What stands before and after the records in the JSON of a page. */
async function envelopeOf(list: ListRequest, page: Page | PackedPage): Promise<[head: string, tail: string]> {
  const { context, dataset, request, permit, parameters, since, scope } = list
  const restoredAt = scope.syncType === 'initial' ? await findRestoredAt(context.pool, permit, since) : null
  const lastContact = () => context.lastContactOf(permit.organizationId)
  const freshness = await freshnessOf(permit.state, permit.openTimes, lastContact, context.now())
  const isCursor = dataset.pagination === 'cursor'
  const isFirst = parameters.after === '0' && parameters.page === 1
  const pages = Math.max(1, Math.ceil(page.total / parameters.items))
  const next = nextPosition(dataset, parameters, page)
  // Members without a value are left out: each mode has its own.
  const pagy = {
    total: page.total,
    items: parameters.items,
    page: isCursor ? undefined : parameters.page,
    pages: isCursor ? undefined : pages,
  }
  const meta = {
    has_more: page.hasMore,
    next_after: isCursor ? next : undefined,
    next_page: isCursor ? undefined : next,
    next_fetch_modified_since: isFirst ? watermarkAfter(permit.state.lastStamp) : null,
    granted_at: scope.isWholeBecauseGranted ? permit.grantedAt.toISOString() : null,
    restored_at: restoredAt?.toISOString() ?? null,
    epoch: permit.epoch,
    freshness: {
      synced_at: permit.state.syncedAt?.toISOString() ?? null,
      state: freshness,
    },
    request_id: request.id,
  }
  return ['{"data":[', `],"pagy":${JSON.stringify(pagy)},"meta":${JSON.stringify(meta)}}`]
}

/** The JSON of a page in parts. Not joined: as one text, a page of wide records would be in memory twice more. */
function pageBody({ documents }: Page, [head, tail]: [string, string], fields: ListParameters['fields']): string[] {
  const parts = [head]
  for (const [index, [, document]] of documents.entries())
    parts.push(index === 0 ? '' : ',', onlyFields(document, fields))
  parts.push(tail)
  return parts
}

/** The JSON of a page as a gzip member: segments as they are stored, which are given back, and the documents between them packed. */
async function packedBody({ parts }: PackedPage, [head, tail]: [string, string]): Promise<Buffer> {
  const runs: (PackedText | string[])[] = []
  for (const part of parts) {
    const last = runs.at(-1)
    if (!('document' in part)) runs.push(part.packed)
    else if (Array.isArray(last)) last.push(part.document)
    else runs.push([part.document])
  }
  const packed = await Promise.all(runs.map((run) => (Array.isArray(run) ? packText(run.join(','), 1) : run)))
  const body = gzipMember([head, ...packed.flatMap((run, index) => (index === 0 ? [run] : [',', run])), tail])
  for (const { data } of packed) giveBack(data)
  return body
}

function nextLink(dataset: Dataset, parameters: ListParameters, page: Page | PackedPage): string | undefined {
  const next = nextPosition(dataset, parameters, page)
  if (next === null) return undefined
  const query = new URLSearchParams({
    [dataset.pagination === 'cursor' ? 'after' : 'page']: String(next),
    items: String(parameters.items),
    ...Object.fromEntries(parameters.carried),
  })
  return `<?${query}>; rel="next"`
}

function nextPosition(dataset: Dataset, parameters: ListParameters, page: Page | PackedPage): string | number | null {
  if (!page.hasMore) return null
  return dataset.pagination === 'cursor' ? extentOf(page).lastId : parameters.page + 1
}
