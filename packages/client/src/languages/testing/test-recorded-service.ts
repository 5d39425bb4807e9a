import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** A request that a client must send, and what it is answered. */
export type Exchange = {
  request: {
    method?: string
    path: string
    query?: Record<string, string>
    headers?: Record<string, string>
    body?: unknown
  }
  /** `cut`: the bytes after which the connection breaks; negative: counted from the end. `close`: it breaks at once. */
  answer: {
    status?: number
    headers?: Record<string, string>
    body?: unknown
    text?: string
    /** Without what Bridgework puts into each answer. */
    foreign?: boolean
    cut?: number
    close?: boolean
  }
  /** The request must come so long after the answer before. */
  at_least_ms?: number
}

const prefix = '/api/v1/vendors'

/** Plays the service: expects these requests, in this order, and no other. */
export async function startRecordedService(t: TestContext) {
  let waiting: Exchange[] = []
  let faults: string[] = []
  let answeredAt = 0
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const exchange = waiting.shift()
      const fault = exchange
        ? faultIn(exchange, request, Buffer.concat(parts).toString(), performance.now() - answeredAt)
        : `${request.method} ${request.url}: no more requests were expected`
      if (fault !== null) faults.push(fault)
      answer(fault === null && exchange ? exchange.answer : unexpected, response)
      answeredAt = performance.now()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    expect(exchanges: readonly Exchange[]) {
      waiting = [...exchanges]
      faults = []
    },
    /** Fails when a request was not what was expected, or did not come. */
    assertDone() {
      assert.deepEqual(faults, [])
      assert.deepEqual(
        waiting.map(({ request }) => request.path),
        [],
        'requests that did not come',
      )
    },
  }
}

const unexpected = { status: 410, body: { errors: 'This request was not expected.', code: 'not_expected' } }

function faultIn(exchange: Exchange, request: IncomingMessage, text: string, waitedMs: number): string | null {
  const { method = 'GET', path, query = {}, headers = {}, body } = exchange.request
  const url = new URL(request.url ?? '', 'http://localhost')
  const got = {
    method: request.method,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, request.headers[name]])),
    body: text === '' ? undefined : JSON.parse(text),
  }
  try {
    assert.deepEqual(got, { method, path: prefix + path, query, headers, body })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const atLeastMs = exchange.at_least_ms ?? 0
  return waitedMs >= atLeastMs ? null : `${path} came after ${waitedMs} ms, not ${atLeastMs}`
}

function answer(
  { status = 200, headers = {}, body, text, foreign, cut, close }: Exchange['answer'],
  response: ServerResponse,
) {
  if (close) return void response.destroy()
  const bytes = Buffer.from(text ?? JSON.stringify(body))
  const own = foreign
    ? { 'content-type': 'text/html' }
    : { 'content-type': 'application/json', 'x-request-id': '00000000-0000-4000-8000-000000000000' }
  response.writeHead(status, { ...own, ...headers, 'content-length': bytes.length })
  if (cut === undefined) return void response.end(bytes)
  response.write(bytes.subarray(0, cut < 0 ? bytes.length + cut : cut), () => response.destroy())
}
