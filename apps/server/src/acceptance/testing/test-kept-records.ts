import { isDeepStrictEqual } from 'node:util'
import type { SourceRecord } from '@bridgework/contract/ingest'
import { withReferences } from './test-references.ts'
import { byKey, type Came, eachName, type Name, names, type View } from './test-vendor-copy.ts'

type Attributes = SourceRecord['attributes']

/** What the practice has now at one location, in the agent's words. */
export type Present = Partial<Record<Name, readonly SourceRecord[]>>

/**
 * What a vendor must have of one location: everything that the practice ever had, the present as it is and the past hidden. Made from the
 * practice's own rows, and with none of the service's code. Datasets of which the present tells nothing stay empty.
 */
export function keptRecords() {
  const kept = eachName(() => new Map<string, Attributes>())
  let view: View = eachName(() => ({}))
  /** What was made of attributes all of whose references were found: it stays so, for what was once there is never forgotten. */
  const settled = new WeakMap<Attributes, object>()
  return {
    /** Takes note of the present, and says which records a vendor must see change by it. */
    take(present: Present): Came {
      for (const name of names) {
        const records = present[name] ?? []
        const here = new Set(records.map((record) => record.source_id))
        for (const [key, attributes] of kept[name]) {
          if (!here.has(key) && attributes.is_hidden !== true) kept[name].set(key, { ...attributes, is_hidden: true })
        }
        for (const { source_id, attributes } of records) {
          if (!isDeepStrictEqual(kept[name].get(source_id), attributes)) kept[name].set(source_id, attributes)
        }
      }
      const before = view
      view = eachName((name) => viewOf(name))
      return eachName((name) => changed(name, before))
    },
    view: () => view,
  }

  function changed(name: Name, before: View): string[] {
    return Object.keys(view[name])
      .filter((key) => !isDeepStrictEqual(before[name][key], view[name][key]))
      .sort(byKey)
  }

  function viewOf(name: Name): Record<string, object> {
    return Object.fromEntries(
      [...kept[name]].map(([key, attributes]) => [key, settled.get(attributes) ?? render(name, attributes)]),
    )
  }

  function render(name: Name, attributes: Attributes): object {
    if (name === 'fee_schedules') return schedule(attributes)
    if (name === 'insurance_plans') return plan(attributes)
    let isSettled = true
    const rendered = withReferences(attributes, 'source_id', (dataset, key) => {
      const isThere = kept[dataset as Name].has(key)
      isSettled &&= isThere
      return isThere ? key : null
    })
    if (isSettled) settled.set(attributes, rendered)
    return rendered
  }

  function schedule({ fees, ...own }: Attributes): object {
    return { ...own, fees, fees_count: Array.isArray(fees) ? fees.length : null }
  }

  function plan({ fee_schedule_source_id: key, ...own }: Attributes): object {
    const found = kept.fee_schedules.get(String(key))
    const fee_schedule = found ? { source_id: key, name: found.name, is_hidden: found.is_hidden } : null
    return { ...own, fee_schedule }
  }
}
