import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type ProblemCode, problems } from '@bridgework/contract'
import { Problem } from '../errors/problem.ts'
import type { Log } from '../log/log-event.ts'
import { writeProblem } from './error-handler.ts'

/**
 * Answers what Node's HTTP parser refuses (garbage, too many headers, too slow) in our error shape, where Node would send a bare status line,
 * and closes the connection: nothing that follows on it can be trusted. Requests that came whole before it on the connection are answered first.
 */
export function createClientErrorHandler(deps: { log: Log; newRequestId?: () => string }) {
  const refused = new WeakSet<Socket>()
  const unanswered = new WeakMap<Socket, Set<Exchange>>()

  const watchRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request
    const exchanges = unanswered.get(socket) ?? new Set()
    const exchange = { request, response }
    unanswered.set(socket, exchanges.add(exchange))
    response.once('close', () => exchanges.delete(exchange))
  }

  const refuse = (error: Error & { code?: string }, socket: Socket, broken: Exchange | undefined): void => {
    // Nothing may be written into an answer of which a part is on the wire.
    if (!socket.writable || broken?.response.headersSent) {
      socket.destroy()
      return
    }
    const problem = new Problem(codes[error.code ?? ''] ?? 'request_malformed')
    const requestId = (deps.newRequestId ?? randomUUID)()
    deps.log({
      event: 'request.answered',
      requestId,
      method: '-',
      route: '(unreadable)',
      status: problems[problem.code].status,
      durationMs: 0,
      code: problem.code,
    })
    refuseAndClose(socket, problem, requestId)
  }

  const handleClientError = (error: Error & { code?: string }, socket: Socket): void => {
    // What is still on its way to a closed parser is refused again; one answer is enough.
    if (refused.has(socket)) return
    refused.add(socket)
    // A handshake that failed left no connection on which an answer could be read.
    if (error.code === 'ECONNRESET' || /^(ERR_SSL|ERR_TLS|EPROTO)/.test(error.code ?? '')) {
      socket.destroy()
      return
    }
    const before = [...(unanswered.get(socket) ?? [])]
    // The last request is the broken one, unless it came whole and the garbage behind it never became a request.
    const broken = before.at(-1)?.request.complete === false ? before.pop() : undefined
    const last = before.at(-1)
    if (last) last.response.once('close', () => refuse(error, socket, broken))
    else refuse(error, socket, broken)
  }

  return { watchRequest, handleClientError }
}

type Exchange = { request: IncomingMessage; response: ServerResponse }

/** Writes an answer, with `more` headers, to a socket that has no usable response object, and closes it. */
export function refuseAndClose(
  socket: Socket,
  problem: Problem,
  requestId: string,
  more: Record<string, string> = {},
): void {
  const { status, headers, body } = writeProblem(problem, requestId)
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries({
      ...headers,
      ...more,
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': requestId,
      Date: new Date().toUTCString(),
      Connection: 'close',
    }).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
  // Closing while bytes are unread resets the connection, and the caller may lose the answer: read on for a moment, then close.
  socket.resume()
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

const lingerMs = 500

const codes: Record<string, ProblemCode> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
}
