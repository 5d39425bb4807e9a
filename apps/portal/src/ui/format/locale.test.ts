import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatCount } from './locale.ts'

test('every date and number of a page is in the language of its text, not of the browser', () => {
  const folder = join(import.meta.dirname, '../..')
  const browserLocale = /toLocale\w*String\(\)|Intl\.\w+Format\(\s*(\)|undefined\b)/
  const found = globSync('**/*.{ts,tsx}', { cwd: folder }).filter(
    (file) => file !== join('ui', 'locale.test.ts') && browserLocale.test(readFileSync(join(folder, file), 'utf8')),
  )
  assert.deepEqual(found, [])
  assert.equal(formatCount(1234567), '1,234,567')
})
