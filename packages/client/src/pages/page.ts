import { ApiError } from '../api-error.ts'
import type { Answer } from '../connection.ts'

/** One page of a list. */
export type Page<Item> = {
  records: Item[]
  /** Records that match the filters, on all pages. */
  total: number
  pageSize: number
  hasMore: boolean
  /** Where the next page begins: pass it as `after`. Null on the last one. */
  next: string | null
  /** On a walk's first page: pass it as `modifiedSince` to begin the next delta. Keep it as text: a Date drops its last digits. */
  watermark: string | null
  /** Set when a delta returned the whole dataset, because the practice granted it later. */
  grantedAt: string | null
  /** Set when a delta returned the whole dataset, because the service was restored from a backup. What no page of it has, the service does not have. */
  restoredAt: string | null
  /** Names the time since the service was made or last restored; null when an earlier release answered. Keep it with the watermark. */
  epoch: string | null
  freshness: Freshness | null
  requestId: string | null
}

/** How current the service's copy is. */
export type Freshness = { synced_at: string | null; state: string }

/**
 * Records one by one, or page by page with `pages()`. Nothing is asked for until the loop asks, and one page is held at a time. Each loop
 * begins anew.
 */
export type List<Item> = AsyncIterable<Item> & { pages: () => AsyncIterableIterator<Page<Item>> }

/**
 * The epoch of a walk with this page, when `known` is that of its earlier pages. Throws ApiError `epoch_changed` when the page is of another one: what
 * came before it may be unknown to the service, or have other ids.
 */
export function requireEpoch(known: string | null, { epoch, requestId }: Page<unknown>): string | null {
  if (known === null || epoch === null || epoch === known) return epoch ?? known
  const errors = 'The service was restored from a backup while this was read. Begin again, without `after`.'
  throw new ApiError({ status: 200, code: 'epoch_changed', errors, requestId, attempts: 1 })
}

/** Follows `next` from page to page. */
export function listOf<Item>(
  first: string | null,
  fetchPage: (position: string | null, previous: Page<Item> | null) => Promise<Page<Item>>,
): List<Item> {
  async function* pages(): AsyncIterableIterator<Page<Item>> {
    let position = first
    let page: Page<Item> | null = null
    let epoch: string | null = null
    do {
      page = await fetchPage(position, page)
      epoch = requireEpoch(epoch, page)
      yield page
      position = page.next
    } while (position !== null)
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* page.records
    },
  }
}

/** Reads the envelope of a list. The records are the service's, as they are. */
export function pageOf<Item>({ body, requestId }: Answer): Page<Item> {
  const { data, pagy, meta } = body
  if (!Array.isArray(data) || !isObject(pagy) || !isObject(meta)) {
    const errors = 'The answer is not a list of Bridgework. Check the base URL.'
    throw new ApiError({ status: 200, code: 'answer_invalid', errors, requestId, attempts: 1 })
  }
  const next = meta.next_after ?? meta.next_page ?? null
  return {
    // The contract, from which the types are made, says what a record is; checking each would cost more than fetching it.
    records: data as Item[],
    total: Number(pagy.total),
    pageSize: Number(pagy.items),
    hasMore: next !== null,
    next: next === null ? null : String(next),
    watermark: textOrNull(meta.next_fetch_modified_since),
    grantedAt: textOrNull(meta.granted_at),
    restoredAt: textOrNull(meta.restored_at),
    epoch: textOrNull(meta.epoch),
    freshness: freshnessOf(meta.freshness),
    requestId,
  }
}

/** The record of a single answer. */
export function recordOf<Item>({ body, requestId }: Answer): Item {
  if (!isObject(body.data)) {
    const errors = 'The answer is not a record of Bridgework. Check the base URL.'
    throw new ApiError({ status: 200, code: 'answer_invalid', errors, requestId, attempts: 1 })
  }
  return body.data as Item
}

/** The freshness in an answer's `meta`. */
export function freshnessOf(value: unknown): Freshness | null {
  return isObject(value) ? { synced_at: textOrNull(value.synced_at), state: String(value.state) } : null
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
