import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localUrl } from './sandbox.ts'

test('the demo practice’s feeder reaches the server at whatever address it listens', () => {
  const urls = {
    '127.0.0.1': 'http://127.0.0.1:8080',
    '127.0.0.2': 'http://127.0.0.2:8080',
    '0.0.0.0': 'http://127.0.0.1:8080',
    '10.0.0.7': 'http://10.0.0.7:8080',
    '::': 'http://[::1]:8080',
    '::1': 'http://[::1]:8080',
    'fd00::7': 'http://[fd00::7]:8080',
  }
  for (const [address, url] of Object.entries(urls)) {
    assert.equal(localUrl({ address, port: 8080, family: 'any' }), url)
  }
})
