import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fillAddress, pageAddresses } from './pages.ts'

test('the pages are those of the router, and each is in the pictures and in the table of violations', () => {
  const addresses = pageAddresses()
  for (const known of ['/', '/sign-in', '/docs', '/company/$company_id/keys', '/operator/jobs']) {
    assert.ok(addresses.includes(known), known)
  }
  const table = readFileSync(join(import.meta.dirname, '../../../docs/images/portal/README.md'), 'utf8')
  const rows = [...table.matchAll(/^\| `([^`]+)` \| \[(\d+)\]\(\S+\) \| \[(\d+)\]\(\S+\) \| \[picture\]\(\S+\) \|$/gm)]
  assert.deepEqual(rows.map(([, address]) => address).sort(), addresses, 'run npm run screenshots')
  assert.ok(rows.every(([, , light, dark]) => `${light}${dark}` === '00'))
})

test('a page that needs an id which is not known is refused by name', () => {
  assert.equal(fillAddress('/company/$company_id/keys', { company_id: 'c1' }), '/company/c1/keys')
  assert.throws(() => fillAddress('/company/$company_id/keys', {}), /needs an id for company_id/)
})
