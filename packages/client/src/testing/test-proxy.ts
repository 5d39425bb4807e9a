import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** What happens to a request: `pass`, or what a bad network and a busy service do. */
export type Mishap = 'pass' | 'delay' | 'cut-before' | 'cut-within' | '429' | '503' | '502-html' | 'truncate'

export type TestProxy = {
  url: string
  /** Answers by status, as the client saw them, and mishaps by name. */
  seen: Map<string, number>
}

/** Stands before a service and lets `mishapOf` decide what becomes of each request. */
export async function startProxy(
  t: TestContext,
  target: string,
  mishapOf: (request: IncomingMessage) => Mishap,
): Promise<TestProxy> {
  const seen = new Map<string, number>()
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  const server = createServer((incoming, outgoing) => {
    const mishap = mishapOf(incoming)
    if (mishap !== 'pass') count(mishap)
    if (mishap === 'cut-before') return void incoming.socket.destroy()
    if (mishap === '429') return refuse(outgoing, 429, '{"errors":"slow down","code":"sync_slots_exceeded"}')
    if (mishap === '503') return refuse(outgoing, 503, '{"errors":"not now","code":"unavailable"}')
    if (mishap === '502-html') return refuse(outgoing, 502, '<html>Bad Gateway</html>')
    const forward = () => pass(target, incoming, outgoing, mishap, (status) => count(String(status)))
    if (mishap === 'delay') setTimeout(forward, 30)
    else forward()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

/** The same numbers for the same seed: mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Each request has a mishap with the given likelihood. */
export function someMishap(random: () => number, likelihood: number): () => Mishap {
  const mishaps: Mishap[] = ['delay', 'cut-before', 'cut-within', '429', '503', '502-html', 'truncate']
  return () => (random() < likelihood ? (mishaps[Math.floor(random() * mishaps.length)] ?? 'pass') : 'pass')
}

function refuse(outgoing: ServerResponse, status: number, body: string): void {
  outgoing.writeHead(status, { 'retry-after': '0', 'content-type': 'application/json' })
  outgoing.end(body)
}

function pass(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  mishap: Mishap,
  onStatus: (status: number) => void,
): void {
  const onward = request(`${target}${incoming.url}`, { method: incoming.method ?? 'GET', headers: incoming.headers })
  onward.on('error', () => outgoing.destroy())
  outgoing.on('close', () => onward.destroy())
  onward.on('response', (answer) => {
    const parts: Buffer[] = []
    answer.on('error', () => outgoing.destroy())
    answer.on('data', (part: Buffer) => parts.push(part))
    answer.on('end', () => {
      const body = Buffer.concat(parts)
      onStatus(answer.statusCode ?? 0)
      const { 'transfer-encoding': _, ...headers } = answer.headers
      if (mishap === 'truncate') {
        // A proxy that believes half the body to be all of it.
        const half = body.subarray(0, body.length >> 1)
        outgoing.writeHead(answer.statusCode ?? 502, { ...headers, 'content-length': half.length })
        return void outgoing.end(half)
      }
      outgoing.writeHead(answer.statusCode ?? 502, { ...headers, 'content-length': body.length })
      if (mishap !== 'cut-within') return void outgoing.end(body)
      outgoing.write(body.subarray(0, body.length >> 1), () => outgoing.destroy())
    })
  })
  incoming.pipe(onward)
}
