import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorApiPath } from '@bridgework/contract'
import { type Answer, someWorld } from '../../../testing/test-world.ts'

test('the document is packed for those who take it, and not sent again to those who have it', async (t) => {
  const world = await someWorld(t)
  const path = `${vendorApiPath}/openapi.json`
  const ask = (headers: Record<string, string> = {}, method = 'GET') => world.request(path, { method, headers })

  const plain = await ask({ 'accept-encoding': 'identity' })
  const packed = await ask({ 'accept-encoding': 'gzip' })
  const lengthOf = ({ headers }: Answer) => Number(headers.get('content-length'))
  assert.deepEqual([plain.headers.get('content-encoding'), packed.headers.get('content-encoding')], [null, 'gzip'])
  assert.equal(packed.text, plain.text)
  assert.ok(lengthOf(packed) < 22_000 && lengthOf(plain) === Buffer.byteLength(plain.text), `${lengthOf(packed)}`)
  const tag = plain.headers.get('etag') ?? ''
  assert.match(tag, /^W\/"[\w-]{22}"$/)
  assert.deepEqual([packed.headers.get('etag'), packed.headers.get('cache-control')], [tag, 'no-cache'])
  for (const known of [tag, `"other", ${tag}`, tag.slice(2), '*']) {
    const { status, text, headers } = await ask({ 'if-none-match': known })
    assert.deepEqual([status, text, headers.get('etag')], [304, '', tag], known)
  }
  assert.equal((await ask({ 'if-none-match': '"other"' })).status, 200)
  const ofPage = await world.request('/docs/json', { headers: { 'accept-encoding': 'gzip' } })
  assert.deepEqual(
    [ofPage.headers.get('content-encoding'), ofPage.headers.get('etag'), ofPage.text],
    ['gzip', tag, plain.text],
  )
  const yaml = await world.request('/docs/yaml', { headers: { 'accept-encoding': 'gzip' } })
  assert.match(yaml.text, /^openapi: 3\.1\.0\n/)
  assert.match(yaml.headers.get('etag') ?? '', /^W\/"[\w-]{22}"$/)
  const head = await ask({ 'accept-encoding': 'identity' }, 'HEAD')
  assert.deepEqual([head.status, head.text, lengthOf(head)], [200, '', lengthOf(plain)])
})
