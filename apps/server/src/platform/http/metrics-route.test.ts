import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { registerMetrics } from './metrics-route.ts'
import { createHttpServer } from './server.ts'

const token = 'a-token-of-at-least-32-characters-0123'

/** What GET /metrics answers to a caller at this address with this Authorization header. */
function someServer(t: TestContext, access: Parameters<typeof registerMetrics>[2]) {
  const app = createHttpServer({ log: () => {}, trustedProxies: ['127.0.0.1'] })
  t.after(() => app.close())
  registerMetrics(app, { observe: () => {}, render: async () => 'up 1\n', contentType: 'text/plain' }, access)
  return async (address: string | null, authorization?: string) => {
    const { statusCode, body, headers } = await app.inject({
      url: '/metrics',
      headers: {
        ...(address !== null && { 'x-forwarded-for': address }),
        ...(authorization !== undefined && { authorization }),
      },
    })
    return { status: statusCode, body, headers, code: statusCode === 200 ? null : JSON.parse(body).code }
  }
}

test('without settings metrics are for callers on this machine; for others the path does not exist', async (t) => {
  const ask = someServer(t, { token: null, isOpen: false })
  for (const address of [null, '127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])
    assert.deepEqual([(await ask(address)).status, (await ask(address)).body], [200, 'up 1\n'], String(address))
  for (const address of ['10.0.0.7', '203.0.113.9', '2001:db8::1', '::ffff:10.0.0.7', 'garbage, 203.0.113.9']) {
    const { status, code } = await ask(address, `Bearer ${token}`)
    assert.deepEqual([status, code], [404, 'route_unknown'], address)
  }
})

test('with a token metrics are for every caller who sends it, and for no other, also on this machine', async (t) => {
  const ask = someServer(t, { token, isOpen: false })
  for (const address of [null, '203.0.113.9']) {
    for (const right of [`Bearer ${token}`, `bearer ${token}`]) assert.equal((await ask(address, right)).status, 200)
    for (const wrong of [
      undefined,
      '',
      'Bearer',
      'Bearer x',
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      `Basic ${token}`,
      token,
    ]) {
      const { status, code, headers } = await ask(address, wrong)
      assert.deepEqual([status, code], [401, 'metrics_token_invalid'], String(wrong))
      assert.match(String(headers['www-authenticate']), /^Bearer/)
    }
  }
})

test('on a port of their own metrics are for every caller, unless there is a token', async (t) => {
  assert.equal((await someServer(t, { token: null, isOpen: true })('203.0.113.9')).status, 200)
  assert.equal((await someServer(t, { token, isOpen: true })('203.0.113.9')).status, 401)
})
