import assert from 'node:assert/strict'
import type { Name, View } from './test-vendor-copy.ts'

/** What a vendor sees at each clinic. */
export type Views = ReadonlyMap<string, View>
type Attributes = Record<string, unknown>

/** Each record once, wherever it is listed: where it is hidden, it may have gone to another clinic. */
export function everywhere(views: Views, name: Name): Map<string, Attributes> {
  const all = [...views.values()].flatMap((view) => Object.entries(view[name]) as [string, Attributes][])
  const isHidden = ([, record]: [string, Attributes]) => record.is_hidden === true
  return new Map([...all.filter(isHidden), ...all.filter((each) => !isHidden(each))])
}

/** One record, wherever a vendor sees it. */
export function seen(views: Views, name: Name, key: string): Attributes {
  return everywhere(views, name).get(key) ?? assert.fail(`${name} ${key} is not there`)
}
