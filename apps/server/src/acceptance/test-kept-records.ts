import { isDeepStrictEqual } from 'node:util'
import type { SourceRecord } from '@bridgework/agent'
import { byKey, type Came, type Name, names, type View } from './test-vendor-copy.ts'

/** What the practice has now at one location, in the agent's words. */
export type Present = Record<Name, readonly SourceRecord[]>

/**
 * What a vendor must have of one location: everything that the practice ever had, the present as it is and the past hidden. Made from the
 * practice's own rows, and with none of the service's code.
 */
export function keptRecords() {
  const kept: Record<Name, Map<string, SourceRecord['attributes']>> = {
    fee_schedules: new Map(),
    insurance_plans: new Map(),
  }
  let view: View = { fee_schedules: {}, insurance_plans: {} }
  return {
    /** Takes note of the present, and says which records a vendor must see change by it. */
    take(present: Present): Came {
      for (const name of names) {
        const here = new Set(present[name].map((record) => record.source_id))
        for (const [key, attributes] of kept[name]) {
          if (!here.has(key)) kept[name].set(key, { ...attributes, is_hidden: true })
        }
        for (const record of present[name]) kept[name].set(record.source_id, record.attributes)
      }
      const before = view
      view = {
        fee_schedules: mapView(kept.fee_schedules, schedule),
        insurance_plans: mapView(kept.insurance_plans, plan),
      }
      return { fee_schedules: changed('fee_schedules', before), insurance_plans: changed('insurance_plans', before) }
    },
    view: () => view,
  }

  function changed(name: Name, before: View): string[] {
    return Object.keys(view[name])
      .filter((key) => !isDeepStrictEqual(before[name][key], view[name][key]))
      .sort(byKey)
  }

  function schedule({ fees, ...own }: SourceRecord['attributes']): object {
    return { ...own, fees, fees_count: Array.isArray(fees) ? fees.length : null }
  }

  function plan({ fee_schedule_source_id: key, ...own }: SourceRecord['attributes']): object {
    const found = kept.fee_schedules.get(String(key))
    const fee_schedule = found ? { source_id: key, name: found.name, is_hidden: found.is_hidden } : null
    return { ...own, fee_schedule }
  }
}

function mapView(
  records: ReadonlyMap<string, SourceRecord['attributes']>,
  render: (attributes: SourceRecord['attributes']) => object,
): Record<string, object> {
  return Object.fromEntries([...records].map(([key, attributes]) => [key, render(attributes)]))
}
