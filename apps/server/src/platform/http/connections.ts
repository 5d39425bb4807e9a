import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Descriptors of a process that serves nobody: Node's own, files, the log, the database's process and its sockets while they are replaced. */
const ownDescriptors = 30
const most = 10_000

/**
 * How many connections of callers the process has descriptors for, beside those to the database, at most 10,000. Without a descriptor the
 * system resets a connection before any of our code sees it.
 */
export function connectionsWithin(databaseConnections: number): number {
  const limit = readDescriptorLimit() ?? Number.POSITIVE_INFINITY
  return Math.max(5, Math.min(most, limit - databaseConnections - ownDescriptors))
}

/** Null where the system does not tell it in a file: macOS, or no limit. */
function readDescriptorLimit(): number | null {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}

/**
 * Hands at most `max` connections to the server. Each further one is given to `refuse`, which answers and closes it, and those that wait for
 * another request make room, so a second try succeeds. Node's own `maxConnections` closes without an answer, and its `closeIdleConnections`
 * also closes those whose first request is still on its way.
 */
export function boundConnections(server: Server, max: number, refuse: (socket: Socket) => void): void {
  const accept = server.listeners('connection') as ((socket: Socket) => void)[]
  const idle = new Set<Socket>()
  const requests = new WeakMap<Socket, number>()
  let open = 0
  server.on('request', ({ socket }, response) => {
    // Over TLS this is another socket than the one that connected.
    if (!requests.has(socket)) socket.once('close', () => idle.delete(socket))
    idle.delete(socket)
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (requests.get(socket) ?? 1) - 1
      requests.set(socket, left)
      if (left === 0 && !socket.destroyed) idle.add(socket)
    })
  })
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    open += 1
    socket.once('close', () => {
      open -= 1
    })
    if (open <= max) {
      for (const listener of accept) listener.call(server, socket)
      return
    }
    for (const each of idle) each.destroy()
    refuse(socket)
    // A few may linger, so that their callers read the answer; more would take the descriptors that they are refused for.
    if (open > max + lingeringMax) socket.destroySoon()
  })
}

const lingeringMax = 10
