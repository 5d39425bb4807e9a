import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inKilobytes, scriptBytesOfPages } from './page-scripts.ts'
import { pageAddresses } from './pages.ts'

const howTo = 'run node apps/portal/browser/page-scripts.ts > page-scripts.json beside it and say why it grew'

test('each page’s scripts stay within a twentieth of what page-scripts.json says, and within 400 kB', () => {
  const file = readFileSync(join(import.meta.dirname, 'page-scripts.json'), 'utf8')
  const table = new Map<string, number>(Object.entries(JSON.parse(file)))
  assert.deepEqual([...table.keys()].sort(), pageAddresses(), howTo)
  for (const [address, bytes] of scriptBytesOfPages()) {
    const now = inKilobytes(bytes)
    assert.ok(now > 100 && now <= 400, `${address}: ${now} kB`)
    assert.ok(
      now <= 1.05 * (table.get(address) ?? 0),
      `${address}: ${now} kB instead of ${table.get(address)}: ${howTo}`,
    )
  }
})
