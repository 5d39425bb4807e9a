import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'

/**
 * Stops a server without failing a request. No new connection is accepted from now on, which a proxy answers by trying another process. A request
 * on an open connection is served, and its answer says that the connection ends. A connection without a request is closed after `idleMs`: at
 * once, a request might be on its way on it. Resolves when no connection is left; the HTTP server's own limits end the slow ones.
 */
export async function drain(server: Server, idleMs = 2_000): Promise<void> {
  if (!server.listening) return
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'))
  const closed = once(server, 'close')
  // Not the HTTP server's own `close`, which ends idle connections at once.
  NetServer.prototype.close.call(server)
  let sweep: NodeJS.Timeout | undefined
  const patience = setTimeout(() => {
    server.closeIdleConnections()
    sweep = setInterval(() => server.closeIdleConnections(), 100)
  }, idleMs)
  await closed
  clearTimeout(patience)
  clearInterval(sweep)
}
