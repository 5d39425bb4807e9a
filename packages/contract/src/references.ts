import { type DatasetName, datasetNames, getDataset } from './datasets.ts'

/** That one dataset's records refer to another's (or to their own): what of a referred record stands in the rendering beside its id. */
export type Reference = { readonly from: DatasetName; readonly to: DatasetName; readonly embedded: readonly string[] }

/** Each pair of datasets of which one refers to the other, once, however many rules say so; in the contract's order. */
const references: readonly Reference[] = datasetNames.flatMap((from) => {
  const rules = getDataset(from).refersTo
  // Without Map.groupBy: Node 20 reads this too, in the server for AI assistants.
  return [...new Set(rules.map(({ dataset }) => dataset as DatasetName))].map((to) => ({
    from,
    to,
    embedded: rules.flatMap((rule) => (rule.dataset === to ? rule.changesWith : [])),
  }))
})

/** What the dataset's records refer to. */
export function referencesFrom(dataset: string): readonly Reference[] {
  return references.filter((reference) => reference.from === dataset)
}

/** What refers to the dataset's records. */
export function referencesTo(dataset: string): readonly Reference[] {
  return references.filter((reference) => reference.to === dataset)
}

/** Whether a dataset's records have instants that the location's time zone made of its wall clock. */
export function hasInstants(dataset: DatasetName): boolean {
  return Object.values(getDataset(dataset).source.properties).some(
    (schema) => isInstant(schema) || ('anyOf' in schema && Array.isArray(schema.anyOf) && schema.anyOf.some(isInstant)),
  )
}

function isInstant(schema: object): boolean {
  return 'format' in schema && schema.format === 'date-time'
}

/** Whether a dataset's records belong to a patient, or are patients. */
export function hasPatientData(dataset: DatasetName): boolean {
  return dataset === 'patients' || referencesFrom(dataset).some(({ to }) => to === 'patients')
}
