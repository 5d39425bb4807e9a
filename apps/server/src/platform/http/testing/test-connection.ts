import assert from 'node:assert/strict'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { FastifyInstance } from 'fastify'
import type { LogEvent } from '../../log/log-event.ts'
import { createHttpServer, type HttpServerOptions } from '../server.ts'

export type RawAnswer = { status: number; headers: Map<string, string>; body: Buffer }

/** A server with routes of the test's own on a real port, and what it logged. */
export async function startTestServer(
  t: TestContext,
  addRoutes: (app: FastifyInstance) => void,
  options: Partial<HttpServerOptions> = {},
): Promise<{ app: FastifyInstance; port: number; events: LogEvent[] }> {
  const events: LogEvent[] = []
  const app = createHttpServer({ log: (event) => events.push(event), trustedProxies: [], ...options })
  addRoutes(app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.after(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  return { app, port: (app.server.address() as AddressInfo).port, events }
}

/** A bare connection: tests write what no HTTP client would. */
export async function openConnection(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

/** Sends a text on a connection of its own and reads until the server closes it. */
export async function exchange(t: TestContext, port: number, text: string | Buffer): Promise<RawAnswer> {
  const socket = await openConnection(t, port)
  socket.write(text)
  return readToEnd(socket, { isHead: text.toString('latin1').startsWith('HEAD ') })
}

/** Sends a text on a connection of its own and reads every answer until the server closes it. */
export async function exchangeAll(t: TestContext, port: number, text: string): Promise<RawAnswer[]> {
  const socket = await openConnection(t, port)
  socket.write(text)
  return parseAnswers(await readBytes(socket))
}

/** All that arrives until the connection ends, as one answer. */
export async function readToEnd(socket: Socket, { isHead = false } = {}): Promise<RawAnswer> {
  const [answer] = parseAnswers(await readBytes(socket), { isHead })
  assert.ok(answer, 'the connection was closed without an answer')
  return answer
}

async function readBytes(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
  await new Promise((resolve) => socket.once('close', resolve).once('end', () => socket.end()))
  return Buffer.concat(chunks)
}

/** Resolves with the first `count` answers on a connection, which stays open. */
export function readAnswers(socket: Socket, count: number): Promise<RawAnswer[]> {
  let received = Buffer.alloc(0)
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer[]>()
  const onData = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    const answers = parseAnswers(received)
    if (answers.length >= count) {
      socket.off('data', onData)
      resolve(answers)
    }
  }
  socket.on('data', onData)
  socket.once('close', () => reject(new Error('the connection was closed')))
  return promise
}

/** The whole answers at the start of these bytes. Every answer of ours says its length. */
export function parseAnswers(bytes: Buffer, { isHead = false } = {}): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = bytes
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) return answers
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = isHead ? 0 : Number(headers.get('content-length'))
    if (rest.length < end + 4 + length) return answers
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, body: rest.subarray(end + 4, end + 4 + length) })
    rest = rest.subarray(end + 4 + length)
  }
}

/** The one error shape, on every refusal of every layer. */
export function assertRefusal(answer: RawAnswer, status: number, code: string, { isHead = false } = {}): void {
  assert.equal(answer.status, status, answer.body.toString())
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(answer.headers.get('server'), undefined)
  assert.equal(answer.headers.get('x-powered-by'), undefined)
  assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  if (isHead) {
    assert.equal(answer.body.length, 0)
    return
  }
  const body = JSON.parse(answer.body.toString())
  assert.deepEqual(Object.keys(body), ['errors', 'code', 'request_id'])
  assert.equal(typeof body.errors, 'string')
  assert.equal(body.code, code)
  assert.equal(body.request_id, answer.headers.get('x-request-id'))
}
