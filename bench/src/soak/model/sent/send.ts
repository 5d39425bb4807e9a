import { type IncomingMessage, request } from 'node:http'
import { constants, gunzipSync } from 'node:zlib'
import type { ServerProcess } from '../service.ts'

export type Sent = {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: Buffer | string
  /** Ends the connection after so many bytes of the answer's body. */
  cutAfter?: number
}

/**
 * `unsent`: no server took the connection. `cut`: the connection broke, or was ended, before the answer was whole; the text is what arrived,
 * unpacked as far as it goes. `status` null: not even the head of an answer arrived.
 */
export type Answer = {
  outcome: 'unsent' | 'cut' | 'whole'
  status: number | null
  headers: IncomingMessage['headers']
  text: string
  begunAtMs: number
  endedAtMs: number
  /** Whether the same was sent before, without an answer or with one that said to come back: it may have taken effect. */
  isAgain: boolean
}

/** Sends one request to one of the servers. Never rejects. */
export function send(
  server: ServerProcess,
  { method = 'GET', path, headers = {}, body, cutAfter }: Sent,
): Promise<Answer> {
  const begunAtMs = Date.now()
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    let bytes = 0
    let head: IncomingMessage | null = null
    const end = (outcome: Answer['outcome']) =>
      resolve({
        outcome,
        status: head?.statusCode ?? null,
        headers: head?.headers ?? {},
        text: unpacked(Buffer.concat(pieces), head?.headers['content-encoding'] === 'gzip'),
        begunAtMs,
        endedAtMs: Date.now(),
        isAgain: false,
      })
    const { agent, port } = server
    const asked = request({ host: '127.0.0.1', port, agent, method, path, headers, timeout: 120_000 })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', (error: Error & { code?: string }) => end(error.code === 'ECONNREFUSED' ? 'unsent' : 'cut'))
    asked.once('response', (answer) => {
      head = answer
      answer.on('data', (piece: Buffer) => {
        const kept = cutAfter === undefined ? piece : piece.subarray(0, Math.max(0, cutAfter - bytes))
        bytes += piece.length
        pieces.push(kept)
        if (cutAfter === undefined || bytes < cutAfter) return
        end('cut')
        asked.destroy()
      })
      answer.once('end', () => end('whole'))
      answer.once('error', () => end('cut'))
      answer.once('close', () => end(answer.complete ? 'whole' : 'cut'))
    })
    asked.end(body)
  })
}

/** What a packed body says, or the part of it that there is. */
function unpacked(body: Buffer, isGzip: boolean): string {
  if (!isGzip || body.length === 0) return body.toString('utf8')
  try {
    return gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }).toString('utf8')
  } catch {
    return ''
  }
}
