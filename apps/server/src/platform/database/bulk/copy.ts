import type { ClientBase, Submittable } from 'pg'

/** What of pg's connection COPY uses. */
type Connection = {
  query: (text: string) => void
  stream: { writable: boolean; write: (bytes: Buffer) => void }
  endCopyFrom: () => void
}

/**
 * Sends the bytes to `copy … from stdin`; the number of rows stored. They follow the statement at once: PostgreSQL need not wait until a busy process
 * has seen that it is ready, and passes over bytes that come after an error
 * (https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-COPY).
 */
export async function copyIn(client: ClientBase, text: string, bytes: Buffer): Promise<number> {
  return await new Promise((resolve, reject) => {
    let rows = 0
    const statement = {
      // The client replaces it by one that ends the statement's timer. pg calls it for its own statements alone.
      callback: () => {},
      submit(connection: Connection) {
        connection.query(text)
        // pg's own method would copy the bytes behind the head of their message.
        if (connection.stream.writable) for (const piece of [headOf(bytes), bytes]) connection.stream.write(piece)
        connection.endCopyFrom()
      },
      handleCopyInResponse() {},
      handleCommandComplete({ text }: { text: string }) {
        rows = Number(text.split(' ').at(-1))
      },
      handleError(error: Error) {
        statement.callback()
        reject(error)
      },
      handleReadyForQuery() {
        statement.callback()
        resolve(rows)
      },
    }
    // pg hands its own connection to `submit`; its types have not all of its methods.
    client.query(statement as unknown as Submittable)
  })
}

/** The head of the message CopyData: its kind, and its length but for the kind. */
function headOf(bytes: Buffer): Buffer {
  const head = Buffer.from('d____')
  head.writeInt32BE(bytes.length + 4, 1)
  return head
}
