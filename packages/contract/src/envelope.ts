import { Type } from 'typebox'
import { instant, nullable, recordId } from './attribute.ts'

/** spec: Pagination envelope `pagy`. Page mode adds `page` and `pages`. */
export const cursorPagy = Type.Object({
  total: Type.Integer({ description: 'Number of records that match the filters of the request, whatever the cursor' }),
  items: Type.Integer({
    description: 'Page size in force, after capping; fewer records than this means the last page',
  }),
})

export const pagePagy = Type.Object({
  ...cursorPagy.properties,
  page: Type.Integer({ description: 'Number of this page, from 1' }),
  pages: Type.Integer({ description: 'Number of pages' }),
})

/** How current the copy of a dataset is. */
export const freshnessStates = ['current', 'stale', 'disconnected', 'pending'] as const
export type FreshnessState = (typeof freshnessStates)[number]

export const freshness = Type.Object({
  synced_at: nullable(instant('When the practice management system was last read to the end')),
  state: Type.Enum([...freshnessStates], {
    description:
      'pending: the first sync has not finished; current: read to the end within the last 15 minutes of the location’s office hours; stale: not so, but its agent reports; disconnected: no agent reports any more',
  }),
})

const requestId = Type.String({ description: 'Id of this request, also in the header X-Request-Id' })
const hasMore = Type.Boolean({ description: 'True when there are records after this page' })

const datasetMeta = {
  has_more: hasMore,
  next_fetch_modified_since: nullable(
    Type.String({
      format: 'date-time',
      description:
        'On a walk’s first page only: pass it as q[fetch_modified_since] to begin the next delta; it returns exactly what changed since. Null on later pages',
    }),
  ),
  granted_at: nullable(
    instant(
      'When the practice granted this dataset; set when a delta returned the whole dataset because it was granted later',
    ),
  ),
  freshness,
  request_id: requestId,
}

/** `meta` is ours and additive: members may be added. */
export const cursorMeta = Type.Object({
  ...datasetMeta,
  next_after: nullable(recordId('Pass it as `after` for the next page; null on the last page')),
})

export const pageMeta = Type.Object({
  ...datasetMeta,
  next_page: nullable(Type.Integer({ description: 'Pass it as `page` for the next page; null on the last page' })),
})

/** Records of a range as a digest sums them up. */
export const digestRange = Type.Object({
  id: recordId('Id of the last record of the range'),
  type: Type.Literal('digest_range', { description: 'The kind of resource' }),
  attributes: Type.Object({
    after_id: Type.String({
      pattern: '^\\d+$',
      description: 'The range begins after the record with this id; 0: at the first',
    }),
    last_id: recordId('Id of the last record of the range'),
    records: Type.Integer({ description: 'Number of records in the range, hidden ones included' }),
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description:
        'Exclusive or of the SHA-256 of each record, in hexadecimal. Of a record the bytes count that its list sends: the JSON of `id`, `type` and `attributes` in UTF-8, without a space',
    }),
  }),
})

export const digestMeta = Type.Object({
  has_more: hasMore,
  next_after: nullable(recordId('Pass it as `after` for the next ranges; null on the last page')),
  request_id: requestId,
})

/** `meta` of lists that belong to no location. */
export const directoryMeta = Type.Object({
  has_more: hasMore,
  next_page: pageMeta.properties.next_page,
  request_id: requestId,
})
