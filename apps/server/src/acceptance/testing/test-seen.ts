import assert from 'node:assert/strict'
import type { Name, View } from './test-vendor-copy.ts'

/** What a vendor sees at each clinic. */
export type Views = ReadonlyMap<string, View>
type Attributes = Record<string, unknown>

/** Each record once, wherever it is listed. */
export function everywhere(views: Views, name: Name): Map<string, Attributes> {
  return new Map([...views.values()].flatMap((view) => Object.entries(view[name]) as [string, Attributes][]))
}

/** One record, wherever a vendor sees it. */
export function seen(views: Views, name: Name, key: string): Attributes {
  return everywhere(views, name).get(key) ?? assert.fail(`${name} ${key} is not there`)
}
