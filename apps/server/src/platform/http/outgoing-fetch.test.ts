import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { AddressRefused, createOutgoingFetch } from './outgoing-fetch.ts'

const get = { method: 'GET', headers: {} }

test('W20: an address that a customer entered reaches nothing but public addresses over https, also by a name', async (t) => {
  const { url, asked } = await someServer(t)
  const outgoing = createOutgoingFetch({ allowPrivate: false })
  const port = new URL(url).port
  const addresses = [
    url,
    `https://127.0.0.1:${port}`,
    `https://localhost:${port}`,
    `https://2130706433:${port}`,
    `https://0.0.0.0:${port}`,
    `https://[::1]:${port}`,
    `https://[::ffff:127.0.0.1]:${port}`,
    `https://[64:ff9b::7f00:1]:${port}`,
    'https://10.0.0.1',
    'https://172.16.0.1',
    'https://192.168.0.1',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1',
    'https://[fd00::1]',
    'https://[fe80::1]',
    'file:///etc/passwd',
  ]
  for (const address of addresses) {
    await assert.rejects(async () => outgoing(address, get), AddressRefused, address)
  }
  assert.deepEqual(asked, [])
})

test('no redirect is followed, and an answer of more than 1 MiB is cut', async (t) => {
  const { url, asked } = await someServer(t)
  const outgoing = createOutgoingFetch({ allowPrivate: true })
  assert.equal((await outgoing(`${url}/redirect`, get)).status, 302)
  const sent = await outgoing(`${url}/echo`, {
    method: 'POST',
    headers: { 'x-a': 'b' },
    body: new URLSearchParams({ a: '1' }),
  })
  assert.equal(await sent.text(), 'POST b a=1')
  await assert.rejects(async () => outgoing(`${url}/large`, get), /larger than 1 MiB/)
  const signal = AbortSignal.timeout(50)
  await assert.rejects(async () => outgoing(`${url}/never`, { ...get, signal }), { name: 'AbortError' })
  assert.deepEqual(asked, ['/redirect', '/echo', '/large', '/never'])
})

async function someServer(t: TestContext) {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    asked.push(request.url ?? '')
    if (request.url === '/redirect') return response.writeHead(302, { location: '/elsewhere' }).end()
    if (request.url === '/large') return response.end(Buffer.alloc(2 * 1024 * 1024))
    if (request.url === '/never') return
    let body = ''
    for await (const chunk of request) body += chunk
    response.end(`${request.method} ${request.headers['x-a']} ${body}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
