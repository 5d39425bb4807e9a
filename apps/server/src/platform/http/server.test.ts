import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../errors/problem.ts'
import { rawQuery } from './server.ts'
import { assertRefusal, exchange, openConnection, readToEnd, startTestServer } from './testing/test-connection.ts'

const base = 'Host: test\r\nConnection: close\r\n'
const json = `${base}Content-Type: application/json\r\n`

function addRoutes(app: FastifyInstance): void {
  app.post('/auth/token', async (request) => ({
    body: request.body,
    polluted: ({} as { client_id?: string }).client_id ?? null,
  }))
  app.get('/locations/:id/plans', async (request) => ({
    query: rawQuery(request),
    params: request.params,
    ip: request.clientIp,
  }))
  app.get('/fails', async () => {
    throw new Error('Jane Canary, born 1970')
  })
  app.get('/throws-text', async () => {
    throw 'Jane Canary'
  })
  app.get('/database', async () => {
    throw Object.assign(new Error('connect ECONNREFUSED /var/run/secret'), { code: 'ECONNREFUSED' })
  })
  app.get('/no-token', async () => {
    throw new Problem('token_required')
  })
  app.get('/bad-token', async () => {
    throw new Problem('token_invalid', { because: 'expired' })
  })
  app.get('/busy', async () => {
    throw new Problem('busy')
  })
  app.get('/slots', async () => {
    throw new Problem('sync_slots_exceeded', { members: { sync_type: 'initial' }, retryAfterSeconds: 3 })
  })
  app.get('/too-many', async () => {
    throw new Problem('token_requests_exceeded', { retryAfterSeconds: 42 })
  })
}

describe('K12: every refusal has the one error shape', () => {
  const refusals: [name: string, request: string, status: number, code: string][] = [
    ['an unknown path', `GET /nowhere HTTP/1.1\r\n${base}\r\n`, 404, 'route_unknown'],
    [
      'an unknown path with a body of any type',
      `PUT /nowhere HTTP/1.1\r\n${base}Content-Type: text/plain\r\nContent-Length: 1\r\n\r\nx`,
      404,
      'route_unknown',
    ],
    ['double slashes', `GET //locations/1/plans HTTP/1.1\r\n${base}\r\n`, 404, 'route_unknown'],
    ['a trailing slash', `GET /locations/1/plans/ HTTP/1.1\r\n${base}\r\n`, 404, 'route_unknown'],
    ['the asterisk form', `OPTIONS * HTTP/1.1\r\n${base}\r\n`, 404, 'route_unknown'],
    ['an escape that is none', `GET /locations/%zz/plans HTTP/1.1\r\n${base}\r\n`, 400, 'request_malformed'],
    ['an escape that is no UTF-8', `GET /locations/%ff/plans HTTP/1.1\r\n${base}\r\n`, 400, 'request_malformed'],
    ['no Host header', 'GET /fails HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'request_malformed'],
    ['two Host headers', `GET /fails HTTP/1.1\r\nHost: other\r\n${base}\r\n`, 400, 'request_malformed'],
    [
      'a Host that is a list',
      'GET /fails HTTP/1.1\r\nHost: test, other\r\nConnection: close\r\n\r\n',
      400,
      'request_malformed',
    ],
    [
      'two Authorization headers',
      `GET /fails HTTP/1.1\r\n${base}Authorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n`,
      400,
      'request_malformed',
    ],
    [
      'two Content-Type headers',
      `POST /auth/token HTTP/1.1\r\n${json}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}`,
      400,
      'request_malformed',
    ],
    ['another host in the target', `GET http://elsewhere/fails HTTP/1.1\r\n${base}\r\n`, 400, 'request_malformed'],
    [
      'another host in the target, and in Host',
      'GET http://elsewhere/fails HTTP/1.1\r\nHost: elsewhere\r\nConnection: close\r\n\r\n',
      400,
      'request_malformed',
    ],
    ['a target of another scheme', `GET ftp://test/fails HTTP/1.1\r\n${base}\r\n`, 400, 'request_malformed'],
    ['the asterisk form of a GET', `GET * HTTP/1.1\r\n${base}\r\n`, 400, 'request_malformed'],
    ['HTTP/2.0 in the first line', `GET /fails HTTP/2.0\r\n${base}\r\n`, 400, 'request_malformed'],
    ['HTTP/0.9 in the first line', `GET /fails HTTP/0.9\r\n${base}\r\n`, 400, 'request_malformed'],
    ["HTTP/2's preface", 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'request_malformed'],
    ['no HTTP', 'garbage\r\n\r\n', 400, 'request_malformed'],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'request_malformed'],
    ['an invented method', `FETCH /auth/token HTTP/1.1\r\n${base}\r\n`, 400, 'request_malformed'],
    [
      'two lengths',
      `POST /auth/token HTTP/1.1\r\n${json}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      400,
      'request_malformed',
    ],
    [
      'length and chunks',
      `POST /auth/token HTTP/1.1\r\n${json}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      'request_malformed',
    ],
    [
      'a broken chunk',
      `POST /auth/token HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
      'request_malformed',
    ],
    ['a line break in a header', `GET /fails HTTP/1.1\r\n${base}X: a\nY\r\n\r\n`, 400, 'request_malformed'],
    [
      'an overlong path segment',
      `GET /locations/${'1'.repeat(9000)}/plans HTTP/1.1\r\n${base}\r\n`,
      414,
      'uri_too_long',
    ],
    ['an overlong query', `GET /fails?${'x'.repeat(9000)} HTTP/1.1\r\n${base}\r\n`, 414, 'uri_too_long'],
    ['headers over 16 KiB', `GET /fails HTTP/1.1\r\n${base}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['headers of 1 MB', `GET /fails HTTP/1.1\r\n${base}X: ${'x'.repeat(1_000_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['malformed JSON', `POST /auth/token HTTP/1.1\r\n${json}Content-Length: 1\r\n\r\n{`, 400, 'body_malformed'],
    [
      'U+0000 in a text',
      `POST /auth/token HTTP/1.1\r\n${json}Content-Length: 18\r\n\r\n{"a":["\\\\\\u0000"]}`,
      422,
      'field_invalid',
    ],
    ['an empty JSON body', `POST /auth/token HTTP/1.1\r\n${json}Content-Length: 0\r\n\r\n`, 400, 'body_malformed'],
    ['a JSON body without length', `POST /auth/token HTTP/1.1\r\n${json}\r\n`, 400, 'body_malformed'],
    [
      'JSON that is no UTF-8',
      `POST /auth/token HTTP/1.1\r\n${json}Content-Length: 3\r\n\r\n"\xff"`,
      400,
      'body_malformed',
    ],
    [
      'text',
      `POST /auth/token HTTP/1.1\r\n${base}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}`,
      415,
      'content_type_unsupported',
    ],
    [
      'a form',
      `POST /auth/token HTTP/1.1\r\n${base}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\na=`,
      415,
      'content_type_unsupported',
    ],
    [
      'a body of no type',
      `POST /auth/token HTTP/1.1\r\n${base}Content-Length: 2\r\n\r\n{}`,
      415,
      'content_type_unsupported',
    ],
    [
      'UTF-16',
      `POST /auth/token HTTP/1.1\r\n${base}Content-Type: application/json;charset=utf-16\r\nContent-Length: 2\r\n\r\n{}`,
      415,
      'content_type_unsupported',
    ],
    [
      'a type that is none',
      `POST /auth/token HTTP/1.1\r\n${base}Content-Type: json\r\nContent-Length: 2\r\n\r\n{}`,
      415,
      'content_type_unsupported',
    ],
    [
      'a packed body',
      `POST /auth/token HTTP/1.1\r\n${json}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`,
      415,
      'content_encoding_unsupported',
    ],
    [
      'a body over 16 KiB',
      `POST /auth/token HTTP/1.1\r\n${json}Content-Length: 16385\r\n\r\n"${'x'.repeat(16383)}"`,
      413,
      'body_too_large',
    ],
    [
      '100 MB announced',
      `POST /auth/token HTTP/1.1\r\n${json}Content-Length: 100000000\r\n\r\n{`,
      413,
      'body_too_large',
    ],
    ['an error of ours', `GET /fails HTTP/1.1\r\n${base}\r\n`, 500, 'internal'],
    ['a thrown text', `GET /throws-text HTTP/1.1\r\n${base}\r\n`, 500, 'internal'],
    ['a database that is away', `GET /database HTTP/1.1\r\n${base}\r\n`, 503, 'unavailable'],
  ]
  for (const [name, request, status, code] of refusals) {
    test(`${name}: ${status}`, async (t) => {
      const { port } = await startTestServer(t, addRoutes)
      const answer = await exchange(t, port, Buffer.from(request, 'latin1'))
      assertRefusal(answer, status, code)
      assert.doesNotMatch(answer.body.toString(), /Canary|node_modules|\.ts|ECONN|secret/)
    })
  }

  test('a request id that the caller sends is never taken over', async (t) => {
    const { port } = await startTestServer(t, addRoutes)
    const answer = await exchange(
      t,
      port,
      `GET /nowhere HTTP/1.1\r\n${base}X-Request-Id: mine\r\nRequest-Id: mine\r\n\r\n`,
    )
    assert.notEqual(answer.headers.get('x-request-id'), 'mine')
    assertRefusal(answer, 404, 'route_unknown')
  })

  test('T11: a body of 100 MB in chunks is refused while it arrives, and the connection closed', async (t) => {
    const { port } = await startTestServer(t, addRoutes)
    const socket = await openConnection(t, port)
    const answer = readToEnd(socket)
    socket.write(
      `POST /auth/token HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    for (let sent = 0; sent < 1600 && !socket.destroyed; sent += 1) {
      if (!socket.write(chunk)) await new Promise<void>((go) => void socket.once('drain', go).once('close', () => go()))
    }
    assertRefusal(await answer, 413, 'body_too_large')
  })
})

describe('a path that is known answers other methods with 405 and Allow', () => {
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'TRACE', 'OPTIONS', 'PROPFIND', 'QUERY']) {
    test(`${method} on the token path`, async (t) => {
      const { port, events } = await startTestServer(t, addRoutes)
      const answer = await exchange(
        t,
        port,
        `${method} /auth/token?x=1 HTTP/1.1\r\n${base}X-HTTP-Method-Override: POST\r\n\r\n`,
      )
      assertRefusal(answer, 405, 'method_not_allowed', { isHead: method === 'HEAD' })
      assert.equal(answer.headers.get('allow'), 'POST')
      assert.equal(events.find((event) => event.event === 'request.answered')?.route, '/auth/token')
    })
  }

  test('also a path with parameters, escaped, in absolute form', async (t) => {
    const { port } = await startTestServer(t, addRoutes, { publicUrl: 'https://test' })
    const answer = await exchange(t, port, `DELETE http://test/locations/1%202/pl%61ns?x HTTP/1.1\r\n${base}\r\n`)
    assertRefusal(answer, 405, 'method_not_allowed')
    assert.equal(answer.headers.get('allow'), 'GET')
  })

  test('CONNECT is no path of ours', async (t) => {
    const { port } = await startTestServer(t, addRoutes)
    assertRefusal(await exchange(t, port, `CONNECT elsewhere:443 HTTP/1.1\r\n${base}\r\n`), 405, 'method_not_allowed')
  })

  test('an API may refuse an unknown path or method first', async (t) => {
    const asked: (string | null)[] = []
    const { port } = await startTestServer(t, addRoutes, {
      beforeRefusal: (_request, route) => {
        asked.push(route)
        if (route !== '/auth/token') throw new Problem('token_required')
      },
    })
    assertRefusal(await exchange(t, port, `GET /nowhere HTTP/1.1\r\n${base}\r\n`), 401, 'token_required')
    assertRefusal(await exchange(t, port, `DELETE /locations/1/plans HTTP/1.1\r\n${base}\r\n`), 401, 'token_required')
    assertRefusal(await exchange(t, port, `GET /auth/token HTTP/1.1\r\n${base}\r\n`), 405, 'method_not_allowed')
    assert.deepEqual(asked, [null, '/locations/:id/plans', '/auth/token'])
  })
})

test('a 401 says how to authenticate, and names an error only when there was a token', async (t) => {
  const { port } = await startTestServer(t, addRoutes)
  const without = await exchange(t, port, `GET /no-token HTTP/1.1\r\n${base}\r\n`)
  const wrong = await exchange(t, port, `GET /bad-token HTTP/1.1\r\n${base}\r\n`)
  assert.equal(without.headers.get('www-authenticate'), 'Bearer')
  assert.equal(wrong.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
})

test('a 503 always says when to come back', async (t) => {
  const { port } = await startTestServer(t, addRoutes)
  for (const path of ['/busy', '/database']) {
    const answer = await exchange(t, port, `GET ${path} HTTP/1.1\r\n${base}\r\n`)
    assert.equal(answer.status, 503)
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  }
})

test('a 429 says when to come back in header and body', async (t) => {
  const { port } = await startTestServer(t, addRoutes)
  const answer = await exchange(t, port, `GET /too-many HTTP/1.1\r\n${base}\r\n`)
  const body = JSON.parse(answer.body.toString())
  assert.equal(answer.status, 429)
  assert.equal(answer.headers.get('retry-after'), '42')
  assert.equal(body.retry_after_seconds, 42)
  assert.equal(body.code, 'token_requests_exceeded')
})

test('the 429 of the sync slots has the members of the specification and no other', async (t) => {
  const { port } = await startTestServer(t, addRoutes)
  const answer = await exchange(t, port, `GET /slots HTTP/1.1\r\n${base}\r\n`)
  assert.deepEqual(JSON.parse(answer.body.toString()), {
    errors: 'Too many locations are syncing concurrently.',
    sync_type: 'initial',
    retry_after_seconds: 3,
  })
  assert.equal(answer.headers.get('retry-after'), '3')
  assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
})

test('the log has the route and never the path, the query or an error’s message', async (t) => {
  const { port, events } = await startTestServer(t, addRoutes)
  await exchange(t, port, `GET /locations/jane-canary/plans?q=canary HTTP/1.1\r\n${base}\r\n`)
  await exchange(t, port, `GET /canary?canary HTTP/1.1\r\n${base}\r\n`)
  await exchange(t, port, `GET /%zzcanary HTTP/1.1\r\n${base}\r\n`)
  await exchange(t, port, `GET /fails HTTP/1.1\r\n${base}\r\n`)
  assert.doesNotMatch(JSON.stringify(events), /canary/i)
  const lines = events.filter((event) => event.event === 'request.answered').map(({ route, status }) => [route, status])
  assert.deepEqual(lines, [
    ['/locations/:id/plans', 200],
    ['(unknown)', 404],
    ['(unreadable)', 400],
    ['/fails', 500],
  ])
  const [failure] = events.filter((event) => event.event === 'request.failed')
  assert.equal(failure?.error, 'Error')
  assert.match(failure?.line ?? '', /^apps\/server\/src\/platform\/http\/server\.test\.ts:\d+$/)
})

test('K10: the log names the first line of our own code, not one of Node or of a dependency', async (t) => {
  const at = (file: string) => `    at f (file:///srv/${file}:7:3)`
  const stacks: [string[], string][] = [
    [
      [
        at('node_modules/pg/lib/client.js'),
        '    at g (node:events:5:1)',
        at('apps/server/src/a.ts'),
        at('apps/server/src/b.ts'),
      ],
      'apps/server/src/a.ts:7',
    ],
    [[at('node_modules/x/packages/y.js')], 'unknown'],
  ]
  for (const [frames, line] of stacks) {
    const { port, events } = await startTestServer(t, (app) => {
      app.get('/inside', () => {
        throw Object.assign(new Error('x'), { stack: ['Error: x', ...frames].join('\n') })
      })
    })
    await exchange(t, port, `GET /inside HTTP/1.1\r\n${base}\r\n`)
    assert.equal(events.find((event) => event.event === 'request.failed')?.line, line)
  }
})

test('routes get the query as it was sent', async (t) => {
  const { port } = await startTestServer(t, addRoutes)
  const answer = await exchange(t, port, `GET /locations/1/plans?q%5Ba%5D=1&q[a]=2&+ HTTP/1.1\r\n${base}\r\n`)
  assert.equal(JSON.parse(answer.body.toString()).query, 'q%5Ba%5D=1&q[a]=2&+')
})

test('T10: a body cannot reach a prototype', async (t) => {
  const { port } = await startTestServer(t, addRoutes)
  const body = '{"__proto__":{"client_id":"a"},"constructor":{"prototype":{"client_id":"a"}},"b":1}'
  const answer = await exchange(
    t,
    port,
    `POST /auth/token HTTP/1.1\r\n${json}Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  assert.equal(answer.status, 200)
  assert.deepEqual(JSON.parse(answer.body.toString()), { body: { b: 1 }, polluted: null })
})

test('an unknown expectation is ignored, as RFC 9110 allows', async (t) => {
  const { port } = await startTestServer(t, addRoutes)
  assert.equal(
    (await exchange(t, port, `GET /locations/1/plans HTTP/1.1\r\n${base}Expect: wonders\r\n\r\n`)).status,
    200,
  )
})
