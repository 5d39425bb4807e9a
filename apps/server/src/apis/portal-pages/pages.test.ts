import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { someWorld } from '../../testing/test-world.ts'

const html = { accept: 'text/html,application/xhtml+xml' }

test('each page that the portal has is answered by it, also the ones that only a mail links to', async (t) => {
  const world = await someWorld(t, { portalDir: builtPages(t) })
  const source = ['router.tsx', 'routes/signed-out.tsx']
    .map((file) => readFileSync(new URL(`../../../../portal/src/${file}`, import.meta.url), 'utf8'))
    .join('')
  const paths = [...source.matchAll(/\bpath: '(\/[^']*)'/g)].map(([, path = '']) => path.replace(/\$\w+/g, '7'))
  assert.ok(paths.length > 10, String(paths.length))
  for (const path of paths) assert.equal((await world.request(path, { headers: html })).status, 200, path)
})

test('a page comes with a policy that lets in our own files and this answer’s styles alone', async (t) => {
  const world = await someWorld(t, { portalDir: builtPages(t) })

  const first = await world.request('/company/1/keys', { headers: html })
  const second = await world.request('/company/1/keys', { headers: html })

  const policy = first.headers.get('content-security-policy') ?? ''
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1]
  assert.equal(first.status, 200)
  assert.match(policy, /^default-src 'self'; .*object-src 'none'; base-uri 'none'; .*frame-ancestors 'none'$/)
  assert.doesNotMatch(policy, /script-src|unsafe/)
  assert.ok(nonce && first.text.includes(`<meta name="csp-nonce" content="${nonce}"`))
  assert.ok(!second.text.includes(nonce))
  assert.equal(first.headers.get('cross-origin-opener-policy'), 'same-origin')
  assert.equal(first.headers.get('cache-control'), 'no-store')
})

test('files of the portal are kept by browsers for ever, packed, and none outside its folder is served', async (t) => {
  const world = await someWorld(t, { portalDir: builtPages(t) })

  const packed = await world.request('/assets/page-1.js', { headers: { 'accept-encoding': 'br' } })
  const outside = await world.request('/assets/..%2findex.html')
  const missing = await world.request('/assets/page-2.js')

  assert.equal(packed.status, 200)
  assert.equal(packed.headers.get('content-encoding'), 'br')
  assert.match(packed.headers.get('cache-control') ?? '', /immutable/)
  assert.ok([401, 403, 404].includes(outside.status))
  assert.equal(typeof outside.body.errors, 'string')
  assert.equal(missing.status, 404)
  assert.equal(missing.body.code, 'route_unknown')
})

test('the root is the portal for a browser and a description for a program', async (t) => {
  const world = await someWorld(t, { portalDir: builtPages(t) })
  assert.match((await world.request('/', { headers: html })).text, /<!doctype html>/)
  assert.equal((await world.request('/')).body.service, 'Bridgework')
})

test('an address without a page is 404: a page for a person, a problem for a program', async (t) => {
  const world = await someWorld(t, { portalDir: builtPages(t) })
  const page = await world.request('/nope', { headers: html })
  assert.deepEqual([page.status, page.headers.get('content-type')], [404, 'text/html; charset=utf-8'])
  assert.match(page.text, /<!doctype html>/)
  for (const [path, init] of [
    ['/nope', {}],
    ['/nope', { method: 'POST', headers: html }],
    ['/assets/nope.js', { headers: html }],
    ['/portal/api/nope', { headers: html }],
    ['/ingest/v1/nope', { headers: html }],
  ] as const) {
    const answer = await world.request(path, init)
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', path)
    assert.ok(answer.status >= 400 && answer.body.code, path)
  }
})

test('a server whose pages were never built says how to build them', async (t) => {
  const world = await someWorld(t, { portalDir: builtPages(t, { isBuilt: false }) })
  const answer = await world.request('/sign-in', { headers: html })
  assert.equal(answer.status, 503)
  assert.match(answer.text, /npm start/)
})

function builtPages(t: TestContext, { isBuilt } = { isBuilt: true }): string {
  const dir = mkdtempSync(join(tmpdir(), 'bridgework-pages-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  mkdirSync(join(dir, 'assets'))
  if (isBuilt) writeFileSync(join(dir, 'index.html'), '<!doctype html><meta name="csp-nonce" content=""><p>Portal')
  writeFileSync(join(dir, 'assets/page-1.js'), 'export {}')
  // What it holds does not matter here: that it is chosen does.
  writeFileSync(join(dir, 'assets/page-1.js.br'), Buffer.from([0x0b, 0x00, 0x80, 0x20, 0x03]))
  return dir
}

test('a name that no file can have is 404: too long, or with a zero byte', async (t) => {
  const world = await someWorld(t)
  for (const folder of ['/assets/']) {
    for (const name of ['a'.repeat(300), '9'.repeat(7_000), '%00', '%2F'.repeat(2_000)]) {
      const { status, body } = await world.request(folder + name)
      assert.deepEqual([status, body.code], [404, 'route_unknown'], folder + name.slice(0, 10))
    }
  }
})
