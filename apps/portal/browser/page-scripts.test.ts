import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inKilobytes, scriptBytesOfPages } from './page-scripts.ts'
import { pageAddresses } from './pages.ts'

const howTo = 'run node apps/portal/browser/page-scripts.ts and write down why it grew'

test('each page’s scripts stay within a twentieth of the table that says what they weigh, and within 400 kB', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/decisions/portal-scripts.md'), 'utf8')
  const table = new Map(
    [...page.matchAll(/^\| `([^`]+)` \| [\d.–]+ \| ([\d.]+) \|$/gm)].map(([, address, kilobytes]) => [
      String(address),
      Number(kilobytes),
    ]),
  )
  assert.deepEqual([...table.keys()].sort(), pageAddresses(), howTo)
  for (const [address, bytes] of scriptBytesOfPages()) {
    const now = Number(inKilobytes(bytes))
    assert.ok(now > 100 && now <= 400, `${address}: ${now} kB`)
    assert.ok(
      now <= 1.05 * (table.get(address) ?? 0),
      `${address}: ${now} kB instead of ${table.get(address)}: ${howTo}`,
    )
  }
})
