import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from './api-error.ts'
import type { Connection } from './connection.ts'
import { refuseUnknownOptions } from './did-you-mean.ts'
import { type Freshness, textOrNull } from './pages/page.ts'

/** What is true now of something that may be read, or of its access. Rows of other types may be added. */
export type ChangeRow = { id: string } & (
  | {
      type: 'dataset'
      attributes: {
        location_id: string
        dataset: string
        /** Equal to the `watermark` of your walk: there is nothing to ask. Null: not read since it was granted. */
        next_fetch_modified_since: string | null
        granted_at: string
        freshness: Freshness
        removal_held: { missing: number; visible: number; held_at: string } | null
      }
    }
  | {
      type: 'grant'
      attributes: { location_id: string; dataset: string; granted_at: string | null; ended_at: string | null }
    }
  | {
      type: 'location'
      attributes: { location_id: string; organization_id: string; is_active: boolean; updated_at: string }
    }
  | { type: 'agreement'; attributes: { version: number; enforced_at: string; accepted_at: string | null } }
  | { type: 'key'; attributes: { client_id: string; ended_at: string | null } }
)

export type ChangesPage = {
  rows: ChangeRow[]
  /** There are more rows now, after `next`. */
  hasMore: boolean
  /** Pass it as `after`. It does not expire. */
  next: string
  /** All that there is, on all pages: what has no row is not granted. */
  isWhole: boolean
  epoch: string | null
  requestId: string | null
}

export type ChangesOptions = {
  /** The `next` of an earlier page; left out: all that there is. */
  after?: string
  /** Rows in a page: 1 to 5000. */
  pageSize?: number
  /** With `after`: how long the answer may wait for a change, 25 at most. */
  waitSeconds?: number
  signal?: AbortSignal
}

export type ChangesResource = {
  /** One page. Throws ApiError 404 `route_unknown` where the service is of an earlier release. */
  page: (options?: ChangesOptions) => Promise<ChangesPage>
  /** The rows of all pages that there are now. */
  list: (options?: Omit<ChangesOptions, 'waitSeconds'>) => AsyncIterable<ChangeRow>
  /**
   * Page after page, for ever: first all that there is, then what changes, within a second. A page without a change comes after 25 seconds. `news`: the
   * rows that say something else than they said before.
   */
  follow: (options?: Pick<ChangesOptions, 'after' | 'signal'>) => AsyncGenerator<ChangesPage & { news: ChangeRow[] }>
}

const pageSizeDefault = 5000
const waitSecondsMax = 25
/** Between two requests that do not wait. */
const pauseMs = 5_000

export function changesResource(connection: Connection): ChangesResource {
  const page = (options: ChangesOptions = {}) => fetchChanges(connection, options)
  return {
    page(options = {}) {
      refuseUnknownOptions('changes.page', options, ['after', 'pageSize', 'waitSeconds', 'signal'])
      return page(options)
    },
    async *list(options = {}) {
      refuseUnknownOptions('changes.list', options, ['after', 'pageSize', 'signal'])
      for await (const { rows } of changesUntilNow(connection, options)) yield* rows
    },
    async *follow(options = {}) {
      refuseUnknownOptions('changes.follow', options, ['after', 'signal'])
      const said = new Map<string, string>()
      let { after } = options
      /** The epoch of the whole answer whose pages are read; null: of none. */
      let walked: string | null = null
      const signal = options.signal ? { signal: options.signal } : {}
      for (;;) {
        const waitSeconds = after === undefined ? 0 : waitSecondsMax
        const asked = { ...signal, ...(after !== undefined && { after }) }
        const answer = await page({ ...asked, waitSeconds }).catch(async (error: unknown) => {
          if (!(error instanceof ApiError) || error.status !== 429) throw error
          // Others of the company wait already: this one asks now and then.
          await sleep(pauseMs, undefined, signal)
          return page(asked)
        })
        after = answer.next
        if (answer.isWhole && walked !== answer.epoch) said.clear()
        walked = answer.isWhole && answer.hasMore ? answer.epoch : null
        const news = answer.rows.filter((row) => {
          const [name, text] = [`${row.type} ${row.id}`, sayingOf(row)]
          const isNew = said.get(name) !== text
          said.set(name, text)
          if (row.type === 'dataset') said.set(`grant ${row.id}`, sayingOf(grantOf(row)))
          return isNew
        })
        yield { ...answer, news }
      }
    },
  }
}

/** The pages that there are now. */
export async function* changesUntilNow(
  connection: Connection,
  options: Omit<ChangesOptions, 'waitSeconds'>,
): AsyncGenerator<ChangesPage> {
  for (let { after } = options; ; ) {
    const page = await fetchChanges(connection, { ...options, ...(after !== undefined && { after }) })
    yield page
    after = page.next
    if (!page.hasMore) return
  }
}

async function fetchChanges(connection: Connection, options: ChangesOptions): Promise<ChangesPage> {
  const { after, pageSize = pageSizeDefault, waitSeconds = 0, signal } = options
  const query = new Map([['items', String(pageSize)]])
  if (after !== undefined) query.set('after', after)
  if (waitSeconds > 0) query.set('wait', String(waitSeconds))
  const { body, requestId } = await connection.get('/changes', { query, signal, waitMs: waitSeconds * 1000 })
  const meta = (body.meta ?? {}) as Record<string, unknown>
  const next = textOrNull(meta.next_after)
  if (!Array.isArray(body.data) || next === null) {
    const errors = 'The answer has no changes of Bridgework. Check the base URL.'
    throw new ApiError({ status: 200, code: 'answer_invalid', errors, requestId, attempts: 1 })
  }
  return {
    // The documentation says what a row is; a type that this release does not know is left to the caller.
    rows: body.data as ChangeRow[],
    hasMore: meta.has_more === true,
    next,
    isWhole: meta.is_whole === true,
    epoch: textOrNull(meta.epoch),
    requestId,
  }
}

/** The row of the access to a dataset, which may come after that of the dataset, and says nothing more. */
function grantOf({ id, attributes }: ChangeRow & { type: 'dataset' }): ChangeRow {
  const { location_id, dataset, granted_at } = attributes
  return { id, type: 'grant', attributes: { location_id, dataset, granted_at, ended_at: null } }
}

/** What a row says, without freshness, which changes with the clock. */
function sayingOf({ attributes }: ChangeRow): string {
  return JSON.stringify({ ...attributes, freshness: undefined })
}
