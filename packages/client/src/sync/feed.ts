import { ApiError } from '../api-error.ts'
import { changesUntilNow } from '../changes-resource.ts'
import type { Connection } from '../connection.ts'
import type { LocationRecord } from '../directory-resource.ts'
import type { SyncStore } from './store.ts'

/** What the service said of all that may be read: enough to know of each dataset whether there is anything to ask. */
export type Feed = {
  connection: Connection
  /** Where the next answer begins. */
  after: string
  epoch: string | null
  /** The watermark that each dataset's list would give; null: it was not read since it was granted. By location and dataset. */
  watermarks: Map<string, string | null>
  /** When an attribute of each location last changed. */
  updatedAt: Map<string, string>
  /** When all was read: it is read again from time to time, so that no lost row stays lost. */
  wholeAt: number
  /** The locations as they were listed last, and when; null: they are to be listed, because some are new, changed or ended. */
  directory: { locations: readonly LocationRecord[]; at: number } | null
  /** Datasets that the service does not serve in production yet. */
  off: Set<string>
}

const wholeEveryMs = 60 * 60_000
/** Rows say nothing of how current a location is, which the list of them does. */
const directoryEveryMs = 5 * 60_000

/** What is known of each copy, by its store: in memory, because asking for all costs one request. */
const feeds = new WeakMap<SyncStore, Feed>()

/** Brings the feed of a copy up to date; null: the service is of an earlier release and tells no changes. */
export async function readFeed(connection: Connection, store: SyncStore, signal?: AbortSignal): Promise<Feed | null> {
  const known = feeds.get(store)
  const isKept = known?.connection === connection && performance.now() - known.wholeAt < wholeEveryMs
  const feed = isKept ? known : emptyFeed(connection)
  const options = { ...(signal && { signal }), ...(isKept && { after: feed.after }) }
  let isWhole = false
  try {
    for await (const page of changesUntilNow(connection, options)) {
      // The first page of all that there is, and not one that follows it. A restore begins all again.
      if (page.isWhole && (!isWhole || page.epoch !== feed.epoch))
        Object.assign(feed, { ...emptyFeed(connection), wholeAt: performance.now() })
      isWhole = page.isWhole
      Object.assign(feed, { after: page.next, epoch: page.epoch })
      for (const row of page.rows) {
        if (row.type === 'dataset') {
          if (!feed.watermarks.has(row.id)) feed.directory = null
          feed.watermarks.set(row.id, row.attributes.next_fetch_modified_since)
        }
        // Rows may come twice. One of an access that began adds nothing to that of its dataset.
        const isEnd = row.type === 'grant' && row.attributes.ended_at !== null && feed.watermarks.delete(row.id)
        const isOther = row.type === 'location' && feed.updatedAt.get(row.id) !== row.attributes.updated_at
        if (row.type === 'location') feed.updatedAt.set(row.id, row.attributes.updated_at)
        if (isEnd || isOther) feed.directory = null
      }
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    // The feed may have half of a page: the next call begins anew.
    feeds.delete(store)
    throw error
  }
  if (feed.directory && performance.now() - feed.directory.at > directoryEveryMs) feed.directory = null
  feeds.set(store, feed)
  return feed
}

function emptyFeed(connection: Connection): Feed {
  return {
    ...{ connection, after: '', epoch: null, wholeAt: performance.now(), directory: null },
    watermarks: new Map(),
    updatedAt: new Map(),
    off: new Set(),
  }
}
