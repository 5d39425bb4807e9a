import type { DatasetName } from '@bridgework/contract'
import { datasetNames, hasPatientData } from '@bridgework/contract'
import { tableNames, tableOf, viewNames } from '../../client/src/stores/layout.ts'
import type { ColumnKind, TableColumn } from '../../client/src/stores/table.ts'
import { tables } from '../../client/src/stores/tables.generated.ts'
import { type Dialect, type View, views } from '../../client/src/stores/views.ts'

/** `sql`: what a query reads in its place; absent: the column itself. */
export type SourceColumn = { name: string; kind: ColumnKind | 'unknown'; about?: string; sql?: string }

/** What can be asked. `item` stands for one of its rows. */
export type Source = {
  name: string
  about: string
  rows: (dialect: Dialect) => string
  /** SQL of the patient whom a row is about, by id or by the practice's own key beside `organization_id`. Null: rows are about no patient. */
  person: { id: string } | { sourceId: string } | null
  /** What groups and filters. */
  columns: readonly SourceColumn[]
  /** What can be added up. */
  sums: readonly SourceColumn[]
}

/**
 * What a grouped answer may use of the datasets of patients: what describes many of them. Whatever is not named here, such as a column that a later
 * version brings, is not used.
 */
const open: Record<string, { columns: readonly string[]; sums: readonly string[] }> = {
  patients: {
    columns: [
      'gender',
      'status',
      'billing_type',
      'preferred_language',
      'preferred_contact_method',
      'state',
      'country',
      'primary_provider_name',
      'first_visit_on',
      'fee_schedule_id',
      'primary_insurance_plan_id',
      'secondary_insurance_plan_id',
    ],
    sums: ['balance_total', 'balance_insurance_estimate'],
  },
  appointments: {
    columns: [
      'provider_name',
      'hygienist_name',
      'operatory_name',
      'appointment_type',
      'status',
      'local_starts_at',
      'is_new_patient',
      'is_hygiene',
      'is_block',
    ],
    sums: ['duration_minutes', 'scheduled_production'],
  },
  treatments: {
    columns: ['provider_name', 'procedure_code', 'status', 'area', 'planned_on', 'completed_on'],
    sums: ['quantity', 'fee', 'discount', 'insurance_estimate', 'patient_estimate'],
  },
  ledger_transactions: {
    columns: [
      'transaction_type',
      'transaction_on',
      'provider_name',
      'procedure_code',
      'insurance_plan_id',
      'payment_method',
      'adjustment_type',
    ],
    sums: ['amount'],
  },
  patient_referrals: {
    columns: ['direction', 'source_type', 'source_name', 'attribution_role', 'referred_on', 'status'],
    sums: [],
  },
}

/** Of other sources than these, `source_name` is the name of a person, who can be a patient. */
const namedSources = `case when source_type in ('marketing', 'organization', 'provider') then source_name end`

/** Whom a record is about. */
const patientOf: Record<string, string> = {
  patients: 'item.id',
  ledger_transactions: 'coalesce(item.patient_id, item.guarantor_id)',
}

/** Views with a row for each patient. */
const ownColumns: Record<string, { patient: string; columns: readonly string[]; sums: readonly string[] }> = {
  accounts_receivable: {
    patient: 'guarantor_source_id',
    columns: [],
    sums: ['balance', 'days_0_to_30', 'days_31_to_60', 'days_61_to_90', 'days_over_90'],
  },
  recall_due: {
    patient: 'patient_source_id',
    columns: ['is_due', 'due_on', 'last_hygiene_on', 'next_hygiene_on'],
    sums: [],
  },
}

/** What can be asked for groups: each dataset and each view of analysts, without what tells one patient from another. */
export const groupedSources: readonly Source[] = [
  ...datasetNames.map(datasetSource),
  ...views.map(viewSource),
  ...(['locations', 'organizations'] as const).map((name) => ({
    name,
    about: tables[name].title,
    rows: () => `select * from ${name}`,
    person: null,
    columns: [{ name: 'id', kind: 'id' as const }, ...tables[name].columns.map(columnOf)],
    sums: [],
  })),
]

/** What can be asked with --records: every table and view of a mirror. Its columns are those that the database names. */
export const recordSources: readonly string[] = [...viewNames, ...tableNames]

/** A table or view as it is, with the columns that the database names. */
export function recordSource(name: string, names: readonly string[]): Source {
  const dataset = datasetNames.find((each) => name === each || name === `current_${each}`)
  const list = datasetNames.flatMap((each) => tableOf(each).lists).find((each) => each.name === name)
  const view = groupedSources.find((each) => each.name === name)
  const known = dataset
    ? tableOf(dataset).columns.map(columnOf)
    : (list?.columns.map(columnOf) ?? [...(view?.columns ?? []), ...(view?.sums ?? [])])
  const columns = names.map((column) => {
    const { sql: _, ...found } = known.find((each) => each.name === column) ?? { name: column, kind: kindOf(column) }
    return found
  })
  const about = dataset ? tables[dataset].title : (list?.about ?? view?.about ?? name)
  return { name, about, rows: () => `select * from ${name}`, person: null, columns, sums: columns }
}

function datasetSource(dataset: DatasetName): Source {
  const { title, columns } = tableOf(dataset)
  const isOfPatients = hasPatientData(dataset)
  const { columns: names, sums } = isOfPatients
    ? (open[dataset] ?? { columns: [], sums: [] })
    : { columns: columns.map(({ name }) => name), sums: [] }
  const named = (wanted: readonly string[]) => columns.filter(({ name }) => wanted.includes(name)).map(columnOf)
  return {
    name: `current_${dataset}`,
    about: `${title} that were not removed, at locations that are open`,
    rows: () => `select * from current_${dataset}`,
    person: isOfPatients ? { id: patientOf[dataset] ?? 'item.patient_id' } : null,
    columns: [{ name: 'location_id', kind: 'id', about: 'Location' }, ...named(names).map(openColumn)],
    sums: named(sums),
  }
}

function viewSource({ name, about, lines }: View): Source {
  if (lines) {
    const { keys, sums, sql } = lines
    const person = keys.includes('organization_id') ? { sourceId: 'item.patient_source_id' } : { id: 'item.patient_id' }
    const columns = keys.map((key) => openColumn({ name: key, kind: kindOf(key) }))
    return { name, about, rows: sql, person, columns, sums: sums.map(sumColumn) }
  }
  const alone = ownColumns[name]
  if (!alone) throw new Error(`Nothing says what a grouped answer may use of ${name}.`)
  const { patient, columns, sums } = alone
  return {
    name,
    about,
    rows: () => `select * from ${name}`,
    person: { sourceId: `item.${patient}` },
    columns: ['organization_id', ...columns].map((column) => ({ name: column, kind: kindOf(column) })),
    sums: sums.map(sumColumn),
  }
}

function columnOf({ name, kind, about }: TableColumn): SourceColumn {
  return { name, kind, about }
}

function openColumn(column: SourceColumn): SourceColumn {
  return column.name === 'source_name' ? { ...column, sql: namedSources } : column
}

function sumColumn(name: string): SourceColumn {
  const isMoney = /production|collections|adjustments|write_offs|fees|balance|^days_/.test(name)
  return { name, kind: isMoney ? 'decimal' : 'integer' }
}

/** The kind of a column of a view, which its name tells. */
function kindOf(name: string): SourceColumn['kind'] {
  if (/^id$|(?<!source)_id$/.test(name)) return 'id'
  if (/_on$|^month$/.test(name)) return 'date'
  if (/_at$/.test(name)) return 'instant'
  if (/^is_/.test(name)) return 'boolean'
  if (/^position$|_seconds$/.test(name)) return 'integer'
  return /name$|_key$|_type$|source_id$|^state$|^dataset$/.test(name) ? 'text' : 'unknown'
}
