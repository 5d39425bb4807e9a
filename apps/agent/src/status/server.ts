import { createServer } from 'node:http'
import { pagePolicy, statusPage } from './page.ts'
import type { AgentStatus } from './status.ts'

export type StatusServer = { readonly port: number; stop(): Promise<void> }

/**
 * Shows the status on this computer alone, as a page at / and as JSON at /status.json. Only a caller that names this computer is answered: a
 * page from elsewhere, whose name was made to lead here, is not. Rejects when the port is taken.
 */
export function startStatusServer(port: number, read: () => AgentStatus): Promise<StatusServer> {
  const server = createServer({ requestTimeout: 5000, headersTimeout: 5000 }, (request, response) => {
    const headers = {
      'cache-control': 'no-store',
      'content-security-policy': pagePolicy,
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    }
    const send = (status: number, type: string, body: string) =>
      response.writeHead(status, { ...headers, 'content-type': `${type}; charset=utf-8` }).end(body)
    const host = request.headers.host?.replace(/:\d+$/, '')
    if (host !== '127.0.0.1' && host !== 'localhost') return send(403, 'text/plain', 'Only for this computer.\n')
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, 'text/plain', 'Use GET.\n')
    if (request.url === '/') return send(200, 'text/html', statusPage(read()))
    if (request.url === '/status.json') return send(200, 'application/json', `${JSON.stringify(read(), null, 2)}\n`)
    return send(404, 'text/plain', 'Not found.\n')
  })
  server.maxConnections = 20
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      const stop = () =>
        new Promise<void>((done) => {
          server.close(() => done())
          server.closeAllConnections()
        })
      resolve({ port: typeof address === 'object' && address !== null ? address.port : port, stop })
    })
  })
}
