import assert from 'node:assert/strict'
import { test } from 'node:test'
import { someWorld } from '../../testing/test-world.ts'

test('a guide comes under the strict content policy, packed, and is asked for again only when it has changed', async (t) => {
  const world = await someWorld(t)
  const page = await world.request('/guides/errors', { headers: { 'accept-encoding': 'br' } })
  const again = await world.request('/guides/errors', {
    // As a browser asks: fetch would say "no-cache" by itself.
    headers: {
      'accept-encoding': 'br',
      'if-none-match': page.headers.get('etag') ?? '',
      'cache-control': 'max-age=0',
    },
  })

  assert.equal(page.status, 200)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(page.headers.get('content-encoding'), 'br')
  assert.equal(page.headers.get('cache-control'), 'no-cache')
  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'self'; img-src/)
  assert.equal(page.headers.get('x-frame-options'), 'DENY')
  assert.match(page.text, /<tr id="token_invalid">/)
  assert.equal(again.status, 304)
})

test('what a guide loads is kept for ever, and nothing outside the folder of guides is served', async (t) => {
  const world = await someWorld(t)
  const { text } = await world.request('/guides')
  const assets = [...text.matchAll(/"(\/guides\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  assert.ok(assets.length >= 4)
  for (const path of assets) {
    const { status, headers } = await world.request(path)
    assert.deepEqual([status, headers.get('cache-control')], [200, 'public, max-age=31536000, immutable'], path)
  }
  for (const name of [
    'nope',
    '..%2f..%2fpackage',
    '%00',
    'a'.repeat(300),
    'decisions/..%2ferrors',
    'errors.html',
    'a/b/c',
  ]) {
    const { status, body } = await world.request(`/guides/${name}`)
    assert.deepEqual([status, body.code], [404, 'route_unknown'], name)
  }
})

test('an assistant finds the guides as Markdown, from a list with whole addresses', async (t) => {
  const world = await someWorld(t)
  const list = await world.request('/llms.txt')
  assert.equal(list.headers.get('content-type'), 'text/plain; charset=utf-8')
  const [, address = ''] = /^- \[First sync\]\((http[^)]+)\): /m.exec(list.text) ?? []
  assert.match(address, /\/guides\/first-sync\.md$/)
  const page = await world.request(new URL(address).pathname)
  assert.equal(page.headers.get('content-type'), 'text/markdown; charset=utf-8')
  assert.match(page.text, /^# First sync\n/)
  assert.match(page.text, /\]\(\/guides\/[\w-]+\.md/)
})

test('every error leads to the row of its code among the guides', async (t) => {
  const world = await someWorld(t)
  const { text } = await world.request('/guides/errors')
  for (const [path, code] of [
    ['/api/v1/vendors/locations', 'token_required'],
    ['/portal/api/session', 'sign_in_required'],
    ['/ingest/v1/agents/self', 'agent_key_invalid'],
    ['/nope', 'route_unknown'],
  ] as const) {
    const { headers } = await world.request(path)
    assert.equal(headers.get('link'), `</guides/errors#${code}>; rel="help"`)
    assert.ok(text.includes(`<tr id="${code}">`), code)
  }
})
