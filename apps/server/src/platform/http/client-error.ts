import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type ProblemCode, problems } from '@bridgework/contract'
import { Problem } from '../errors/problem.ts'
import type { Log } from '../log/log-event.ts'
import { writeProblem } from './error-handler.ts'

/**
 * Answers what Node's HTTP parser refuses (garbage, too many headers, too slow) in our error shape, where Node would send a bare status line,
 * and closes the connection: nothing that follows on it can be trusted.
 */
export function createClientErrorHandler(deps: { log: Log; newRequestId?: () => string }) {
  const answered = new WeakSet<Socket>()
  return (error: Error & { code?: string }, socket: Socket): void => {
    // What is still on its way to a closed parser is refused again; one answer is enough.
    if (answered.has(socket)) return
    answered.add(socket)
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
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
}

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

/** Whether part of an answer is on the wire, so that nothing may be written into it. Node's own default handler asks the same field. */
function isAnswering(socket: Socket): boolean {
  return (socket as Socket & { _httpMessage?: { headersSent: boolean } | null })._httpMessage?.headersSent ?? false
}
