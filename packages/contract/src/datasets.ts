import type { Dataset, NamedDataset } from './dataset.ts'
import { appointment } from './datasets/appointment.ts'
import { feeSchedule } from './datasets/fee-schedule.ts'
import { insurancePlan } from './datasets/insurance-plan.ts'
import { ledgerTransaction } from './datasets/ledger-transaction.ts'
import { patient } from './datasets/patient.ts'
import { patientReferral } from './datasets/patient-referral.ts'
import { treatment } from './datasets/treatment.ts'

const all = [feeSchedule, insurancePlan, patient, appointment, treatment, ledgerTransaction, patientReferral] as const

/** The name of a dataset, as in paths and grants. */
export type DatasetName = (typeof all)[number]['name']

/** The attributes of a record of each dataset, as an agent sends them. */
export type SourceAttributes = {
  [Each in (typeof all)[number] as Each['name']]: NonNullable<Each['sourceType']>
}

/**
 * Every dataset of a location, in the order in which writers lock them and agents send them: what others refer to comes first, so that few
 * references have to wait. Adding one is a file in datasets/ and its line above.
 */
export const datasets: readonly NamedDataset<DatasetName>[] = all

const byName = new Map<string, NamedDataset<DatasetName>>(datasets.map((dataset) => [dataset.name, dataset]))

/** The names of all datasets, in the contract's order. */
export const datasetNames = datasets.map((dataset) => dataset.name)

/** Those with attributes of free text, which a practice grants on their own. */
export const datasetsWithNotes = datasets.filter(({ notes }) => notes.length > 0).map((dataset) => dataset.name)

/** The dataset of that name, or null when there is none. */
export function findDataset(name: string): NamedDataset<DatasetName> | null {
  return byName.get(name) ?? null
}

/** The dataset of this name. */
export function getDataset(name: DatasetName): NamedDataset<DatasetName> {
  const dataset = byName.get(name)
  if (!dataset) throw new Error(`no dataset ${name}`)
  return dataset
}

/** The attribute in which vendors see this one of a dataset's source; null: none, or the contract does not know it. */
export function vendorAttribute({ source, attributes }: Dataset, name: string): string | null {
  if (!Object.hasOwn(source.properties, name)) return null
  const names = [name, name.replace(/_source_id(s?)$/, '_id$1'), name.replace(/_source_id$/, '')]
  return names.find((each) => Object.hasOwn(attributes.properties, each)) ?? null
}

/** Narrows a text to the name of a dataset. */
export function isDatasetName(name: string): name is DatasetName {
  return byName.has(name)
}
