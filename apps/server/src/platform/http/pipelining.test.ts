import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendBody } from './send-body.ts'
import {
  assertRefusal,
  exchange,
  exchangeAll,
  openConnection,
  type RawAnswer,
  readAnswers,
  readToEnd,
  startTestServer,
} from './testing/test-connection.ts'

test('garbage in the same packet as good requests ends the connection after their answers', async (t) => {
  const { port } = await startTestServer(t, (app) => {
    app.post('/echo', async (request) => request.body)
    app.get('/slow', async () => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return { slow: true }
    })
  })
  const good = 'GET /slow HTTP/1.1\r\nHost: test\r\n\r\n'
  const withBody = `POST /echo HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`
  const brokenBody = `POST /echo HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`
  for (const [text, statuses] of [
    [`${good}garbage\r\n\r\n`, [200, 400]],
    [`${good}${good}${withBody}garbage\r\n\r\n`, [200, 200, 200, 400]],
    [`${good}${brokenBody}`, [200, 400]],
  ] as const) {
    const answers = await exchangeAll(t, port, text)
    assert.deepEqual(
      answers.map(({ status }) => status),
      statuses,
    )
    assertRefusal(answers.at(-1) as RawAnswer, 400, 'request_malformed')
  }
})

test('300 pipelined requests are answered in order, without a warning', async (t) => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => void warnings.push(warning)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  const { port } = await startTestServer(t, (app) => {
    app.get('/pages/:number', async (request, reply) => {
      const { number } = request.params as { number: string }
      await sendBody(reply, { body: JSON.stringify({ number }), coding: null })
    })
  })
  const text = Array.from({ length: 300 }, (_, number) => `GET /pages/${number} HTTP/1.1\r\nHost: test\r\n\r\n`).join(
    '',
  )
  const socket = await openConnection(t, port)
  const answers = readAnswers(socket, 300)
  socket.write(text)
  assert.deepEqual(
    (await answers).map(({ body }) => JSON.parse(body.toString()).number),
    Array.from({ length: 300 }, (_, number) => String(number)),
  )
  assert.deepEqual(warnings, [])
})

test('garbage behind a good request never mixes with its answer, and the next connection works', async (t) => {
  const { port } = await startTestServer(t, (app) => app.get('/ok', async () => ({})))
  const socket = await openConnection(t, port)
  const first = readAnswers(socket, 1)
  socket.write('GET /ok HTTP/1.1\r\nHost: test\r\n\r\n')
  assert.equal((await first)[0]?.status, 200)
  const second = readToEnd(socket)
  socket.write('garbage\r\n\r\n')
  assertRefusal(await second, 400, 'request_malformed')
  assert.equal((await exchange(t, port, `GET /ok HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n`)).status, 200)
})
