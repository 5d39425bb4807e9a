import { parseObject } from './api-error.ts'
import type { Connection } from './connection.ts'
import { createLineBuffer, type LineBuffer } from './pages/line-buffer.ts'
import { type Freshness, freshnessOf, type Page, requireEpoch } from './pages/page.ts'

export type WholeOptions<Item> = {
  connection: Connection
  /** Of the list. */
  path: string
  locationId: string
  after: string | null
  pageSize: number
  signal?: AbortSignal | undefined
  /** Makes the records of a page of their lines. */
  read: (lines: LineBuffer) => Item[]
}

/** The pages of a whole dataset by cursor, made of one response. What was cut is gone on with after its last whole line. */
export async function* wholePages<Item>(options: WholeOptions<Item>): AsyncGenerator<Page<Item>, void, undefined> {
  let after = options.after
  let epoch: string | null = null
  do {
    for await (const page of oneExport(options, after)) {
      epoch = requireEpoch(epoch, page)
      after = page.next
      yield page
    }
  } while (after !== null)
}

type Attempt = { response: Response; finish: () => void; fail: (cause: unknown) => void }

/** The pages of one response, which may end, or be cut, before the dataset ends. The connection holds its slot meanwhile. */
async function* oneExport<Item>(
  options: WholeOptions<Item>,
  after: string | null,
): AsyncGenerator<Page<Item>, void, undefined> {
  const { connection, path, locationId, signal } = options
  let begin: (attempt: Attempt) => void = () => {}
  const next = () =>
    new Promise<Attempt>((resolve) => {
      begin = resolve
    })
  let coming = next()
  const request = connection.get(`${path}/export`, {
    query: new Map(after === null ? [] : [['after', after]]),
    slot: { type: 'initial', locationId },
    signal,
    into: {
      fill: (response) => new Promise<void>((finish, fail) => begin({ response, finish, fail })),
      parse: () => ({}),
    },
  })
  for (;;) {
    const attempt = await Promise.race([coming, request.then(noResponse)])
    coming = next()
    let isBegun = false
    try {
      for await (const page of pagesIn(attempt.response, options, after === null, attempt.finish)) {
        isBegun = true
        yield page
      }
    } catch (cause) {
      if (!isBegun) {
        // Nothing came of it, so the connection repeats it, or gives up.
        attempt.fail(cause)
        continue
      }
    } finally {
      attempt.finish()
    }
    await request
    return
  }
}

function noResponse(): never {
  throw new Error('an answer without a body')
}

/**
 * Makes pages of lines as they come. A response without its last line was cut: its whole lines are a page, and then it is an error. `finish`: called
 * when all was read, before the last page is given, after which a walk asks for no other.
 */
async function* pagesIn<Item>(
  { body, headers }: Response,
  { pageSize, read }: WholeOptions<Item>,
  isFirst: boolean,
  finish: () => void,
): AsyncGenerator<Page<Item>, void, undefined> {
  const lines = createLineBuffer()
  const total = Number(headers.get('x-total'))
  const requestId = headers.get('x-request-id')
  const epoch = headers.get('x-epoch')
  // Of the first response alone: later ones go on with its walk.
  let watermark = isFirst ? headers.get('x-next-fetch-modified-since') : null
  const pageOf = (next: string | null, freshness: Freshness | null): Page<Item> => {
    const page = { records: read(lines), total, pageSize, hasMore: next !== null, next, watermark, grantedAt: null }
    watermark = null
    return { ...page, restoredAt: null, epoch, freshness, requestId }
  }
  let failure: unknown = new Error('the export was cut')
  try {
    for await (const chunk of body ?? []) {
      for (let begin = 0; begin < chunk.length; ) {
        const newline = chunk.indexOf(0x0a, begin)
        const end = newline < 0 ? chunk.length : newline + 1
        lines.append(chunk.subarray(begin, end))
        begin = end
        if (newline < 0) continue
        const meta = metaOf(lines.unfinished())
        if (meta) {
          finish()
          yield pageOf(meta.has_more === true ? String(meta.next_after) : null, freshnessOf(meta.freshness))
          return
        }
        if (lines.count() === pageSize) {
          // Whether more follows was known with this line, the first of the next page.
          yield pageOf(lines.lastId(), null)
          lines.dropLines()
        }
        lines.finishLine()
      }
    }
  } catch (error) {
    failure = error
  }
  if (lines.count() > 0) yield pageOf(lines.lastId(), null)
  throw failure
}

const metaBegins = Buffer.from('{"meta":')

function metaOf(line: Uint8Array): Record<string, unknown> | null {
  if (!metaBegins.equals(line.subarray(0, metaBegins.length))) return null
  const meta = parseObject(Buffer.from(line).toString())?.meta
  return typeof meta === 'object' && meta !== null ? (meta as Record<string, unknown>) : null
}
