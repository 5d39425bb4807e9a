import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

type Back = { socket: Socket; front: Front | null; rest: Buffer }
type Front = { socket: Socket; back: Back | null }

/**
 * A pooler of transactions, as PgBouncer with `pool_mode = transaction`: each transaction runs in the session that was used last, or with `isFair` the
 * longest ago, whoever opened it. Returns the database's address through it.
 */
export async function startPooler(
  t: { after: (work: () => void) => void },
  databaseUrl: string,
  { isFair = false } = {},
): Promise<string> {
  const { searchParams, hostname, port } = new URL(databaseUrl)
  const folder = searchParams.get('host')
  const address = folder
    ? { path: `${folder}/.s.PGSQL.${port || 5432}` }
    : { host: hostname, port: Number(port || 5432) }
  const idle: Back[] = []
  const sockets: Socket[] = []

  const server = createServer((socket) => {
    const back: Back = { socket: connect(address), front: null, rest: Buffer.alloc(0) }
    const front: Front = { socket, back }
    // Until it is ready for its first statement, a client signs in to a session of its own.
    back.front = front
    sockets.push(socket, back.socket)
    for (const each of [socket, back.socket]) each.on('error', () => {})
    back.socket.on('data', (bytes: Buffer) => {
      const to = back.front
      to?.socket.write(bytes)
      if (to && isReady(back, bytes)) {
        idle.push(back)
        to.back = null
        back.front = null
      }
    })
    socket.on('data', (bytes: Buffer) => {
      if (bytes[0] === terminate) return socket.end()
      front.back ??= (isFair ? idle.shift() : idle.pop()) ?? null
      if (!front.back) throw new Error('all sessions are in use')
      front.back.front = front
      front.back.socket.write(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const url = new URL(databaseUrl)
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return url.href
}

/** Whether the last message is ReadyForQuery outside of a transaction. Each has a byte for its kind and its length, which counts itself, in four. */
function isReady(back: Back, bytes: Buffer): boolean {
  back.rest = Buffer.concat([back.rest, bytes])
  let isIdle = false
  while (back.rest.length >= 5 && back.rest.length > back.rest.readUInt32BE(1)) {
    const length = 1 + back.rest.readUInt32BE(1)
    isIdle = back.rest[0] === readyForQuery && back.rest[5] === outside
    back.rest = back.rest.subarray(length)
  }
  return isIdle && back.rest.length === 0
}

const [terminate, readyForQuery, outside] = Buffer.from('XZI')
