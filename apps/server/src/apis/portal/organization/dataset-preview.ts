import { type DatasetName, getDataset, hasPatientData } from '@bridgework/contract'
import type { DatasetPreview } from '@bridgework/contract/portal'

/** What a dataset reveals, as the contract says: every attribute with its description and an invented example. */
export function previewOf(name: DatasetName, records: number): DatasetPreview {
  const dataset = getDataset(name)
  const example: Record<string, unknown> = {
    ...dataset.render(dataset.example, () => ({ id: '2048', source: inventedReference })),
    source_id: '17',
    updated_at: '2026-03-02T09:30:00.000Z',
  }
  return {
    dataset: name,
    title: dataset.title,
    description: dataset.description,
    has_patient_data: hasPatientData(name),
    records,
    attributes: Object.entries(dataset.attributes.properties).map(([attribute, schema]) => ({
      name: attribute,
      description: describe(schema),
      example: spell(example[attribute]),
    })),
  }
}

/** What is embedded of a record that another one refers to. */
const inventedReference = { name: 'Standard 2026', is_hidden: false }

/** A value that may be null has its description inside; an embedded record, inside that. */
function describe(schema: unknown): string {
  const { description, anyOf, properties } = schema as {
    description?: string
    anyOf?: unknown[]
    properties?: Record<string, unknown>
  }
  if (description !== undefined) return description
  return [...(anyOf ?? []), ...Object.values(properties ?? {})].map(describe).find((text) => text !== '') ?? ''
}

function spell(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
}
