import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partsOfMail } from './mail-text.ts'

test('only addresses of this installation are links in a mail of the sandbox', () => {
  assert.deepEqual(
    partsOfMail(
      'See\nhttp://localhost:8080/invitation#bwi_x\nor http://localhost:80800/ or https://evil.example/',
      'http://localhost:8080',
    ),
    [
      { text: 'See\n' },
      { text: 'http://localhost:8080/invitation#bwi_x', href: 'http://localhost:8080/invitation#bwi_x' },
      { text: '\nor ' },
      { text: 'http://localhost:80800/' },
      { text: ' or ' },
      { text: 'https://evil.example/' },
    ],
  )
})
