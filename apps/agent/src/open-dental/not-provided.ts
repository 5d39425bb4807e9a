import type { DatasetName, RecordOf } from '../connector.ts'

/** Attributes that come from one column alone, which only some versions have; null: no version has anything of the kind. */
const columnsOf: { readonly [Name in DatasetName]?: Columns<Name> } = {
  patients: { country: 'patient.Country', preferred_contact_method: 'patient.PreferContactMethod' },
  appointments: { created_at: 'appointment.SecDateTEntry' },
  treatments: { discount: 'procedurelog.Discount' },
  patient_referrals: { campaign: null },
}

type Columns<Name extends DatasetName> = Readonly<Partial<Record<keyof RecordOf<Name>['attributes'], string | null>>>

/** The attributes that a database with these columns (`table.Column`) never has. */
export function attributesNotProvided(dataset: DatasetName, columns: ReadonlySet<string>): string[] {
  return Object.entries(columnsOf[dataset] ?? {}).flatMap(([attribute, column]) =>
    column !== null && columns.has(column) ? [] : [attribute],
  )
}
