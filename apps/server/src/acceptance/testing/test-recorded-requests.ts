import { setTimeout as sleep } from 'node:timers/promises'

/** One sending of a request as its client saw it, whatever became of it. */
export type Attempt = {
  /** Who sent it: a company's id, or a person's. */
  by: string
  method: string
  /** Path and query. */
  path: string
  /** The act that a success is, as the history names it; null where the request is none. */
  act: string | null
  begunAtMs: number
  endedAtMs: number
  /** `unsent`: no server took the connection. `cut`: the connection broke before the answer was whole. */
  outcome: 'unsent' | 'cut' | 'whole'
  /** Null when not even the head of an answer arrived. */
  status: number | null
  requestId: string | null
  /** What arrived of the answer's body. */
  body: string
}

export type Recorder = ReturnType<typeof createRecorder>

/**
 * The record that clients keep of what they asked and got: each of its `fetch`es sends to one of the servers, of those that there are at that
 * moment, by turns. A client comes from an address of its own, so that none uses up the others' limit of sign-ins and tokens.
 */
export function createRecorder(servers: readonly { port: number }[]) {
  const attempts: Attempt[] = []
  let clients = 0
  let turn = 0
  let unsent = 0

  const fetchAs = (by: string, act: string | null = null): typeof fetch => {
    clients += 1
    const address = `10.0.${Math.floor(clients / 250)}.${1 + (clients % 250)}`
    return async (input, init = {}) => {
      const { pathname, search } = new URL(String(input))
      turn += 1
      const port = servers[turn % servers.length]?.port
      const headers = new Headers(init.headers)
      headers.set('x-forwarded-for', address)
      const attempt: Attempt = {
        by,
        method: init.method ?? 'GET',
        path: `${pathname}${search}`,
        act,
        begunAtMs: Date.now(),
        endedAtMs: 0,
        outcome: 'cut',
        status: null,
        requestId: null,
        body: '',
      }
      attempts.push(attempt)
      try {
        const answer = await fetch(`http://127.0.0.1:${port}${attempt.path}`, { ...init, headers })
        attempt.status = answer.status
        attempt.requestId = answer.headers.get('x-request-id')
        const text = new TextDecoder()
        for await (const piece of answer.body ?? []) attempt.body += text.decode(piece, { stream: true })
        attempt.outcome = 'whole'
        return repeat(answer, attempt.body)
      } catch (error) {
        const { cause } = error as { cause?: { code?: string } }
        if (cause?.code === 'ECONNREFUSED') {
          attempt.outcome = 'unsent'
          unsent += 1
          // As long as a proxy waits before it asks the next server.
          await sleep(20)
        }
        throw error
      } finally {
        attempt.endedAtMs = Date.now()
      }
    }
  }
  /** How many requests were sent; those that found no server are none. */
  const sent = () => attempts.length - unsent
  return { attempts, sent, fetchAs }
}

/** The answer once more, with the body that was read from it, unpacked. */
function repeat({ status, headers }: Response, body: string): Response {
  const kept = new Headers(headers)
  kept.delete('content-encoding')
  kept.delete('content-length')
  return new Response(status === 204 || status === 304 ? null : body, { status, headers: kept })
}
