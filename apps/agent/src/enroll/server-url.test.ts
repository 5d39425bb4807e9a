import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseServerUrl } from './server-url.ts'

test('K18: a server is spoken to over https, or over http on this very computer', () => {
  for (const [text, url] of [
    ['https://bridgework.example.com', 'https://bridgework.example.com'],
    ['https://bridgework.example.com/base/', 'https://bridgework.example.com/base'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ]) {
    assert.deepEqual(parseServerUrl(text ?? ''), { url })
  }
})

test('any other address is refused with the reason', () => {
  for (const text of [
    'http://bridgework.example.com',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://10.0.0.5',
    'ftp://localhost',
    'bridgework.example.com',
    '',
    'https://user:secret@bridgework.example.com',
    'https://user@bridgework.example.com',
    'https://:secret@bridgework.example.com',
    'http://x127.0.0.1',
    'http://127.0.0.1x',
    'https://bridgework.example.com/?a=1',
    'https://bridgework.example.com/#x',
  ]) {
    assert.ok('because' in parseServerUrl(text), text)
  }
  assert.deepEqual(parseServerUrl('bridgework.example.com'), {
    because: '"bridgework.example.com" is not a URL. Write the server address like https://bridgework.example.com.',
  })
  assert.deepEqual(parseServerUrl('https://bridgework.example.com/?a=1'), {
    because: 'The server address must not contain a user, password, query or fragment.',
  })
})
