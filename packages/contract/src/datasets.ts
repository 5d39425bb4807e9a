import type { Dataset } from './dataset.ts'
import { appointment } from './datasets/appointment.ts'
import { feeSchedule } from './datasets/fee-schedule.ts'
import { insurancePlan } from './datasets/insurance-plan.ts'
import { ledgerTransaction } from './datasets/ledger-transaction.ts'
import { patient } from './datasets/patient.ts'
import { patientReferral } from './datasets/patient-referral.ts'
import { treatment } from './datasets/treatment.ts'

/**
 * Every dataset of a location, in the order in which writers lock them and agents send them: what others refer to comes first, so that few
 * references have to wait. Adding one is a file in datasets/ and its line here.
 */
export const datasets: readonly Dataset[] = [
  feeSchedule,
  insurancePlan,
  patient,
  appointment,
  treatment,
  ledgerTransaction,
  patientReferral,
]

export type DatasetName = string & { readonly brand: 'DatasetName' }

const byName = new Map(datasets.map((dataset) => [dataset.name, dataset]))

/** The names of all datasets, in the contract's order. */
// Every name comes from a definition in the list above: that is what the brand means.
export const datasetNames = datasets.map((dataset) => dataset.name as DatasetName)

/** The dataset of that name, or null when there is none. */
export function findDataset(name: string): Dataset | null {
  return byName.get(name) ?? null
}

/** The dataset of a name that was checked already. */
export function getDataset(name: DatasetName): Dataset {
  const dataset = byName.get(name)
  if (!dataset) throw new Error(`no dataset ${name}`)
  return dataset
}

/** Narrows a text to the name of a dataset. */
export function isDatasetName(name: string): name is DatasetName {
  return byName.has(name)
}
