import { Type } from 'typebox'
import { instant, nullable, recordId } from './attribute.ts'

/** spec: Pagination envelope `pagy`. Page mode adds `page` and `pages`. */
export const cursorPagy = Type.Object({
  total: Type.Integer({ description: 'Number of records that match the filters of the request, on all pages' }),
  items: Type.Integer({
    description: 'Page size of this response, after capping; a page with fewer records is the last one',
  }),
})

export const pagePagy = Type.Object({
  ...cursorPagy.properties,
  page: Type.Integer({ description: 'Number of this page, from 1' }),
  pages: Type.Integer({ description: 'Number of pages' }),
})

/** How current our copy of a dataset is. */
export const freshnessStates = ['current', 'stale', 'disconnected', 'pending', 'not_provided'] as const
export type FreshnessState = (typeof freshnessStates)[number]

export const freshness = Type.Object({
  synced_at: nullable(instant('When the practice management system was last read completely')),
  state: Type.Enum([...freshnessStates], {
    description:
      'pending: the first sync has not finished; current: read completely within the last 15 minutes of the location’s office hours; stale: not current, but its agent is connected; disconnected: no agent is connected; not_provided: the practice’s system does not have this dataset, or its export leaves it out',
  }),
})

const epoch = Type.String({
  description:
    'Names the time since the service was made or last restored from a backup. In another epoch, records that you have may be unknown here, or have other ids',
})
const requestId = Type.String({ description: 'Id of this request, also in the header X-Request-Id' })
const hasMore = Type.Boolean({ description: 'True when there are records after this page' })

const datasetMeta = {
  has_more: hasMore,
  next_fetch_modified_since: nullable(
    Type.String({
      format: 'date-time',
      description:
        'On the first page of a walk: pass it as q[fetch_modified_since] in the next delta to get only what changed. Null on later pages',
    }),
  ),
  granted_at: nullable(
    instant(
      'When the practice granted this dataset; only when this delta returns the whole dataset because of that grant, otherwise null',
    ),
  ),
  restored_at: nullable(
    instant(
      'When the service was restored from a backup; only when this delta returns the whole dataset because its moment is from before that, otherwise null. Then delete the records that no page of this delta returns: the service does not have them',
    ),
  ),
  epoch,
  freshness,
  request_id: requestId,
}

/** `meta` is ours and additive: members may be added. */
export const cursorMeta = Type.Object({
  ...datasetMeta,
  next_after: nullable(recordId('Pass it as `after` to get the next page; null on the last page')),
})

export const pageMeta = Type.Object({
  ...datasetMeta,
  next_page: nullable(Type.Integer({ description: 'Pass it as `page` to get the next page; null on the last page' })),
})

/** A range of records and its checksum. */
export const digestRange = Type.Object({
  id: recordId('Id of the last record of the range'),
  type: Type.Literal('digest_range', { description: 'The kind of resource' }),
  attributes: Type.Object({
    after_id: Type.String({
      pattern: '^\\d+$',
      description: 'The range starts after the record with this id; 0: at the first record',
    }),
    last_id: recordId('Id of the last record of the range'),
    records: Type.Integer({ description: 'Number of records in the range, hidden ones included' }),
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description:
        'Exclusive or of the SHA-256 of each record, in hexadecimal. The SHA-256 of a record is taken over the JSON of its `id`, `type` and `attributes` in the list, in UTF-8 and without spaces, after members whose value is null were left out, in nested objects too',
    }),
  }),
})

export const digestMeta = Type.Object({
  has_more: hasMore,
  next_after: nullable(recordId('Pass it as `after` to get the next ranges; null on the last page')),
  epoch,
  request_id: requestId,
})

/** The last line of an export, beside which no other line has `meta`. */
export const exportMeta = Type.Object({
  has_more: Type.Boolean({ description: 'True when the response ended before the dataset did: pass next_after' }),
  next_after: nullable(recordId('Pass it as `after` to get the other records; null when there are none')),
  records: Type.Integer({ description: 'Number of records in this response' }),
  next_fetch_modified_since: nullable(
    Type.String({
      format: 'date-time',
      description:
        'Without `after`: pass it as q[fetch_modified_since] in the next delta of the list, also when the export was cut and resumed. Also in the header X-Next-Fetch-Modified-Since. Null with `after`',
    }),
  ),
  epoch,
  freshness,
  request_id: requestId,
})

/** `meta` of lists that belong to no location. */
export const directoryMeta = Type.Object({
  has_more: hasMore,
  next_page: pageMeta.properties.next_page,
  epoch,
  request_id: requestId,
})

/** `meta` of single records. */
export const recordMeta = Type.Object({ epoch, request_id: requestId })
