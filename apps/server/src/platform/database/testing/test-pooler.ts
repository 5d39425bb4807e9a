import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A session of the database. `prepared`: the statements that it has; `isAsked`: for each Parse under way, whether its client sent it itself. */
type Back = { socket: Socket; front: Front | null; rest: Buffer; prepared: Set<string>; isAsked: boolean[] }
type Front = { socket: Socket; back: Back | null; rest: Buffer; isSignedIn: boolean }

/**
 * A pooler of transactions, as PgBouncer with `pool_mode = transaction`: each transaction runs in the session that was used last, or with `isFair` the
 * longest ago, whichever client opened it. `carriesStatements`: a session that lacks a prepared statement is given it first, as PgBouncer does from 1.21 on; a name
 * has one text here. Returns the database's address through it.
 */
export async function startPooler(
  t: { after: (work: () => void) => void },
  databaseUrl: string,
  { isFair = false, carriesStatements = true } = {},
): Promise<string> {
  const { searchParams, hostname, port } = new URL(databaseUrl)
  const folder = searchParams.get('host')
  const address = folder
    ? { path: `${folder}/.s.PGSQL.${port || 5432}` }
    : { host: hostname, port: Number(port || 5432) }
  const idle: Back[] = []
  const sockets: Socket[] = []
  const texts = new Map<string, Buffer>()

  const send = (front: Front, message: Buffer) => {
    front.back ??= (isFair ? idle.shift() : idle.pop()) ?? null
    // Those that the database ended are not made anew: the next connection brings one.
    if (!front.back) return void front.socket.destroy()
    const back = front.back
    back.front = front
    const name = carriesStatements ? statementIn(message) : ''
    if (name !== '' && message[0] === parse) {
      texts.set(name, message)
      if (back.prepared.has(name)) return void front.socket.write(parsed)
    }
    const text = texts.get(name)
    if (text && message[0] !== parse && !back.prepared.has(name)) {
      back.isAsked.push(false)
      back.socket.write(text)
    }
    if (text) back.prepared.add(name)
    if (message[0] === parse) back.isAsked.push(true)
    back.socket.write(message)
  }

  const server = createServer((socket) => {
    const back: Back = {
      socket: connect(address),
      front: null,
      rest: Buffer.alloc(0),
      prepared: new Set(),
      isAsked: [],
    }
    const front: Front = { socket, back, rest: Buffer.alloc(0), isSignedIn: false }
    // Until it is ready for its first statement, a client signs in to a session of its own.
    back.front = front
    sockets.push(socket, back.socket)
    for (const each of [socket, back.socket]) each.on('error', () => {})
    back.socket.on('close', () => {
      back.front?.socket.destroy()
      if (idle.includes(back)) idle.splice(idle.indexOf(back), 1)
    })
    back.socket.on('data', (bytes: Buffer) => {
      for (const message of messagesOf(back, bytes)) {
        if (message[0] === parseComplete && back.isAsked.shift() === false) continue
        const to = back.front
        to?.socket.write(message)
        if (to && message[0] === readyForQuery && message[5] === outside) {
          to.isSignedIn = true
          idle.push(back)
          to.back = null
          back.front = null
          // Where it failed, the rest of its batch was not done.
          back.isAsked = []
        }
      }
    })
    socket.on('data', (bytes: Buffer) => {
      if (!front.isSignedIn) return void back.socket.write(bytes)
      for (const message of messagesOf(front, bytes)) {
        if (message[0] === terminate) return void socket.end()
        send(front, message)
      }
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

/** The whole messages that have arrived. Each has a byte for its kind and its length, which counts itself, in four. */
function messagesOf(from: { rest: Buffer }, bytes: Buffer): Buffer[] {
  from.rest = Buffer.concat([from.rest, bytes])
  const messages: Buffer[] = []
  while (from.rest.length >= 5 && from.rest.length > from.rest.readUInt32BE(1)) {
    const length = 1 + from.rest.readUInt32BE(1)
    messages.push(from.rest.subarray(0, length))
    from.rest = from.rest.subarray(length)
  }
  return messages
}

/** The name of the prepared statement that a message makes or uses; empty: none. */
function statementIn(message: Buffer): string {
  const [first = '', second = ''] = message.toString('latin1', 5).split('\0', 2)
  return message[0] === parse ? first : message[0] === bind ? second : ''
}

const [terminate, readyForQuery, outside, parse, bind, parseComplete] = Buffer.from('XZIPB1')
const parsed = Buffer.from([parseComplete ?? 0, 0, 0, 0, 4])
