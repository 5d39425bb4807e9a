import type { Dataset, FreshnessState } from '@bridgework/contract'
import type { ReadPermit } from '../../modules/consent/read-permit.ts'
import { watermarkAfter } from '../../modules/datasets/stamp.ts'
import type { DeltaScope } from '../../modules/records/delta.ts'
import type { Page } from '../../modules/records/page.ts'
import { onlyFields } from './fields.ts'
import type { ListParameters } from './parameters.ts'

/**
 * The JSON of a dataset's page, in parts: stored documents, commas, and the rest of the envelope. Not joined: as one text, a page of wide
 * records would be in memory twice more.
 */
export function pageBody(
  dataset: Dataset,
  permit: ReadPermit,
  parameters: ListParameters,
  scope: DeltaScope,
  page: Page,
  freshness: FreshnessState,
  requestId: string,
): string[] {
  const isCursor = dataset.pagination === 'cursor'
  const isFirst = parameters.after === '0' && parameters.page === 1
  const pages = Math.max(1, Math.ceil(page.total / parameters.items))
  const pagy = { total: page.total, items: parameters.items, ...(isCursor ? {} : { page: parameters.page, pages }) }
  const next = nextPosition(dataset, parameters, page)
  const meta = {
    has_more: page.hasMore,
    ...(isCursor ? { next_after: next } : { next_page: next }),
    next_fetch_modified_since: isFirst ? watermarkAfter(permit.state.lastStamp) : null,
    granted_at: scope.isWholeBecauseGranted ? permit.grantedAt.toISOString() : null,
    freshness: {
      synced_at: permit.state.syncedAt?.toISOString() ?? null,
      state: freshness,
    },
    request_id: requestId,
  }
  const parts = ['{"data":[']
  for (const [index, [, document]] of page.documents.entries()) {
    parts.push(index === 0 ? '' : ',', onlyFields(document, parameters.fields))
  }
  parts.push(`],"pagy":${JSON.stringify(pagy)},"meta":${JSON.stringify(meta)}}`)
  return parts
}

/** A `Link` header to the next page, relative to the request; undefined on the last one. */
export function nextLink(dataset: Dataset, parameters: ListParameters, page: Page): string | undefined {
  const next = nextPosition(dataset, parameters, page)
  if (next === null) return undefined
  const query = new URLSearchParams({
    [dataset.pagination === 'cursor' ? 'after' : 'page']: String(next),
    items: String(parameters.items),
    ...Object.fromEntries(parameters.carried),
  })
  return `<?${query}>; rel="next"`
}

function nextPosition(dataset: Dataset, parameters: ListParameters, page: Page): string | number | null {
  if (!page.hasMore) return null
  return dataset.pagination === 'cursor' ? (page.documents.at(-1)?.[0] ?? null) : parameters.page + 1
}
