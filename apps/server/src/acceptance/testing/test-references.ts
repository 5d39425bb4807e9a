type Attributes = Record<string, unknown>

/** Which dataset each reference leads to, by what the attribute is called before `_id` and `_source_id`. */
const targets: Readonly<Record<string, string>> = {
  patient: 'patients',
  guarantor: 'patients',
  merged_into: 'patients',
  referring_patient: 'patients',
  appointment: 'appointments',
  treatment: 'treatments',
  insurance_plan: 'insurance_plans',
  primary_insurance_plan: 'insurance_plans',
  secondary_insurance_plan: 'insurance_plans',
  fee_schedule: 'fee_schedules',
}

/** What may lead to another record, by its whole name: one or, with an s, a list. */
const references = { id: named('id'), source_id: named('source_id') }

function named(ending: string): ReadonlyMap<string, { thing: string; dataset: string }> {
  return new Map(
    Object.entries(targets).flatMap(([thing, dataset]) =>
      [`${thing}_${ending}`, `${thing}_${ending}s`].map((name) => [name, { thing, dataset }]),
    ),
  )
}

/**
 * The attributes with each reference as the practice's own key under one name (`patient`, `treatments`), whether it is written as a vendor
 * receives it or as an agent sends it. What `resolve` does not know is null, and left out of lists.
 */
export function withReferences(
  attributes: Attributes,
  ending: 'id' | 'source_id',
  resolve: (dataset: string, key: string) => string | null,
): Attributes {
  const named = references[ending]
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => {
      const reference = named.get(name)
      if (!reference) return [name, Array.isArray(value) ? value.map(inside) : value]
      const { thing, dataset } = reference
      if (name.endsWith('s')) return [`${thing}s`, strings(value).flatMap((key) => resolve(dataset, key) ?? [])]
      return [thing, value === null ? null : resolve(dataset, String(value))]
    }),
  )

  function inside(item: unknown): unknown {
    return typeof item === 'object' && item !== null ? withReferences(item as Attributes, ending, resolve) : item
  }
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}
