import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  assertRefusal,
  exchange,
  openConnection,
  readAnswers,
  readToEnd,
  startTestServer,
} from './testing/test-connection.ts'

const legitimate = 'GET /ok HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n'

test('L01: callers that send their headers slowly, or nothing, get 408 and are closed, while others are served', async (t) => {
  const { port } = await startTestServer(t, (app) => app.get('/ok', async () => ({})), { headersTimeoutMs: 200 })
  const slow = await Promise.all(Array.from({ length: 100 }, () => openConnection(t, port)))
  const began = performance.now()
  const answers = slow.map((socket, index) => {
    if (index % 2 === 0) socket.write('GET /ok HTTP/1.1\r\nHost: te')
    return readToEnd(socket)
  })
  assert.equal((await exchange(t, port, legitimate)).status, 200)
  for (const answer of await Promise.all(answers)) assertRefusal(answer, 408, 'request_timeout')
  assert.ok(performance.now() - began < 5_000)
  assert.equal((await exchange(t, port, legitimate)).status, 200)
})

test('a body that trickles in gets 408 and its connection is closed, and its route was never entered', async (t) => {
  let entered = 0
  const { port } = await startTestServer(
    t,
    (app) =>
      app.post('/auth/token', async () => {
        entered += 1
      }),
    { headersTimeoutMs: 200, requestTimeoutMs: 400 },
  )
  const socket = await openConnection(t, port)
  const answer = readToEnd(socket)
  socket.write(
    'POST /auth/token HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
  )
  const trickle = setInterval(() => socket.write(' '), 20)
  t.after(() => clearInterval(trickle))
  assertRefusal(await answer, 408, 'request_timeout')
  assert.equal(entered, 0)
})

test('an upload from a slow office may take longer than other requests', async (t) => {
  const { port } = await startTestServer(
    t,
    (app) => app.post('/upload', { config: { uploadTimeoutMs: 5_000 } }, async () => ({ taken: true })),
    { requestTimeoutMs: 200 },
  )
  const socket = await openConnection(t, port)
  const answer = readAnswers(socket, 1)
  socket.write('POST /upload HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{')
  for (let sent = 1; sent < 9; sent += 1) {
    await sleep(100)
    socket.write(' ')
  }
  socket.write('}')
  assert.equal((await answer)[0]?.status, 200)
})

test('a connection that stays idle after its answer is closed', async (t) => {
  const { port } = await startTestServer(t, (app) => app.get('/ok', async () => ({})), { keepAliveTimeoutMs: 100 })
  const socket = await openConnection(t, port)
  const closed = new Promise((resolve) => socket.once('end', resolve))
  socket.write('GET /ok HTTP/1.1\r\nHost: test\r\n\r\n')
  assert.equal((await readAnswers(socket, 1))[0]?.status, 200)
  await closed
})

test('a caller that sends requests and never reads the answers is closed', async (t) => {
  const { port, app } = await startTestServer(t, (routes) => routes.get('/ok', async () => 'x'.repeat(1_000_000)), {
    idleTimeoutMs: 200,
  })
  const closed = new Promise((resolve) => app.server.once('connection', (socket) => socket.once('close', resolve)))
  const socket = await openConnection(t, port)
  socket.pause()
  socket.write('GET /ok HTTP/1.1\r\nHost: test\r\n\r\n'.repeat(100))
  await closed
})

test('beyond the most connections, idle ones make room', async (t) => {
  const { port } = await startTestServer(t, (app) => app.get('/ok', async () => ({})), { connectionsMax: 5 })
  const idle = await Promise.all(Array.from({ length: 5 }, () => openConnection(t, port)))
  await Promise.all(
    idle.map((socket) => {
      const answered = readAnswers(socket, 1)
      socket.write('GET /ok HTTP/1.1\r\nHost: test\r\n\r\n')
      return answered
    }),
  )
  const closed = idle.map(
    (socket) => new Promise((resolve) => socket.once('close', resolve).once('end', () => socket.end())),
  )
  const refused = await openConnection(t, port)
  refused.resume()
  await new Promise((resolve) => refused.once('close', resolve))
  await Promise.all(closed)
  assert.equal((await exchange(t, port, legitimate)).status, 200)
})

test('a connection beyond the most gets 503 with Retry-After, and those that are served go on', async (t) => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<object>()
  const { port } = await startTestServer(t, (app) => app.get('/slow', () => answered), { connectionsMax: 2 })
  const served = await Promise.all([1, 2].map(() => openConnection(t, port)))
  const answers = served.map((socket) => {
    socket.write('GET /slow HTTP/1.1\r\nHost: test\r\n\r\n')
    return readAnswers(socket, 1)
  })
  for (let time = 0; time < 30; time += 1) {
    const refused = await exchange(t, port, legitimate)
    assertRefusal(refused, 503, 'overloaded')
    assert.equal(refused.headers.get('retry-after'), '2')
  }
  answer({})
  for (const [first] of await Promise.all(answers)) assert.equal(first?.status, 200)
})
