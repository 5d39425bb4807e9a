import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { runNode } from './load.ts'

test('our own client counts answers and bytes, with the headers and over the connections asked for', async (t) => {
  const sockets = new Set<unknown>()
  const url = await serve(t, (request) => {
    sockets.add(request.socket)
    return request.headers.authorization === 'Bearer x' ? 200 : 401
  })

  const result = await runNode({ url, headers: { Authorization: 'Bearer x' }, connections: 3, seconds: 0.2 })

  assert.equal(sockets.size, 3)
  assert.ok(result.requests > 0)
  assert.equal(result.bytes, result.requests * 5)
  assert.ok(Math.abs(result.requestsPerSecond * 0.2 - result.requests) < result.requests * 0.5)
})

test('a round with any other answer than 200 is no figure', async (t) => {
  const url = await serve(t, () => 429)
  await assert.rejects(runNode({ url, headers: {}, connections: 1, seconds: 0.2 }), /answered 429/)
})

async function serve(
  t: TestContext,
  status: (request: import('node:http').IncomingMessage) => number,
): Promise<string> {
  const server = createServer((request, response) => response.writeHead(status(request)).end('12345'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
