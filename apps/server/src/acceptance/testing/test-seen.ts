import assert from 'node:assert/strict'
import { everywhere, type Views } from './test-known-facts.ts'
import type { Name } from './test-vendor-copy.ts'

/** One record, wherever a vendor sees it. */
export function seen(views: Views, name: Name, key: string): Record<string, unknown> {
  return everywhere(views, name).get(key) ?? assert.fail(`${name} ${key} is not there`)
}
