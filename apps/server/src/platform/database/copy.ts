import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { ClientBase, Submittable } from 'pg'

/** What of pg's connection COPY uses. */
type Connection = {
  stream: Socket
  query: (text: string) => void
  sendCopyFromChunk: (chunk: Buffer) => void
  endCopyFrom: () => void
  sendCopyFail: (message: string) => void
}

/** So many bytes wait for a slow reader before the database is paused. */
const queuedMax = 1024 * 1024

/** The bytes of `copy (…) to stdout`, as they come. When the loop waits, the database waits. */
export async function* copyOut(client: ClientBase, text: string): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = []
  let [queued, isDone, wake] = [0, false, () => {}]
  let failure: Error | null = null
  let stream: Socket | null = null
  submit(client, text, {
    handleCopyData({ chunk }, connection) {
      // pg uses its buffer again.
      chunks.push(Buffer.from(chunk))
      queued += chunk.length
      stream = connection.stream
      if (queued > queuedMax) stream.pause()
      wake()
    },
    handleError(error) {
      failure = error
      wake()
    },
    handleReadyForQuery() {
      isDone = true
      wake()
    },
  })
  while (true) {
    const chunk = chunks.shift()
    if (chunk) {
      queued -= chunk.length
      yield chunk
      continue
    }
    if (failure) throw failure
    if (isDone) return
    const more = new Promise<void>((resolve) => {
      wake = resolve
    })
    ;(stream as Socket | null)?.resume()
    await more
  }
}

/**
 * Sends the bytes to `copy … from stdin`; the number of rows stored. What `chunks` throws ends the statement and is thrown. The bytes follow the
 * statement at once: PostgreSQL need not wait until a busy process has seen that it is ready, and passes over bytes that come after an error.
 */
export async function copyIn(
  client: ClientBase,
  text: string,
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<number> {
  return await new Promise((resolve, reject) => {
    let [rows, isOver] = [0, false]
    let failure: Error | null = null
    // After an error nothing more may be sent: the connection's next COPY would take it for its own.
    const send = async (connection: Connection) => {
      try {
        for await (const chunk of chunks) {
          if (isOver) return
          connection.sendCopyFromChunk(chunk)
          if (connection.stream.writableNeedDrain) await once(connection.stream, 'drain')
        }
        if (!isOver) connection.endCopyFrom()
      } catch (error) {
        if (isOver) return
        failure = error instanceof Error ? error : new Error(String(error))
        connection.sendCopyFail('the source failed')
      }
    }
    submit(client, text, {
      handleSent: (connection) => void send(connection),
      handleCommandComplete({ text }) {
        rows = Number(text.split(' ').at(-1))
      },
      handleError(error) {
        // pg forgets a statement at its error: nothing else of it is told.
        isOver = true
        reject(failure ?? error)
      },
      handleReadyForQuery: () => resolve(rows),
    })
  })
}

/** What pg calls on the statement that runs, and `handleSent` when it was sent. */
type Handlers = {
  handleSent?: (connection: Connection) => void
  handleCopyData?: (message: { chunk: Buffer }, connection: Connection) => void
  handleCommandComplete?: (message: { text: string }) => void
  handleError: (error: Error) => void
  handleReadyForQuery: () => void
}

function submit(client: ClientBase, text: string, handlers: Handlers): void {
  const statement = {
    handleCommandComplete() {},
    handleCopyInResponse() {},
    ...handlers,
    // The client replaces it by one that ends the statement's timer. pg calls it for its own statements alone.
    callback: () => {},
    handleError(error: Error) {
      statement.callback()
      handlers.handleError(error)
    },
    handleReadyForQuery() {
      statement.callback()
      handlers.handleReadyForQuery()
    },
    submit(connection: Connection) {
      connection.query(text)
      handlers.handleSent?.(connection)
    },
  }
  // pg hands its own connection to `submit`; its types have not all of its methods.
  client.query(statement as unknown as Submittable)
}
