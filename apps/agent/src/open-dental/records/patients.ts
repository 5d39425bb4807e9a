import type { RecordOf } from '../../connector.ts'
import { changedKeys, daysBetween } from '../changes/changed-rows.ts'
import { keyList } from '../changes/keys.ts'
import { neverShrinking } from '../changes/never-shrinking.ts'
import { plainTable } from '../changes/record-table.ts'
import { definitionName, providerName, readSmallTable } from '../changes/small-tables.ts'
import type { Row } from '../database/connection.ts'
import type { DatasetReader, Lookups, Reading } from '../dataset.ts'
import { byLocation } from '../location-map.ts'
import { accountLookups, accountTables } from './account-rows.ts'
import { changedListings, listingTables, listPatients } from './patient-listing.ts'
import { dateOrNull, moneyOrNull, referenceOrNull, textOrNull } from './values.ts'

const statuses: Readonly<Record<string, readonly [string, string]>> = {
  '0': ['active', 'Patient'],
  '1': ['non_patient', 'NonPatient'],
  '2': ['inactive', 'Inactive'],
  '3': ['archived', 'Archived'],
  '4': ['archived', 'Deleted'],
  '5': ['deceased', 'Deceased'],
  '6': ['prospect', 'Prospective'],
}

const genders: Readonly<Record<string, string>> = { '0': 'male', '1': 'female', '2': 'unknown', '3': 'other' }

const contactMethods: Readonly<Record<string, string>> = {
  '2': 'phone',
  '3': 'phone',
  '4': 'phone',
  '5': 'email',
  '7': 'mail',
  '8': 'sms',
}

/**
 * Patients. A deleted one keeps its row; one that was merged away is linked to the other. Every column is named, so that
 * a social security number is never read.
 */
export const patients: DatasetReader = {
  reads: ({ locations }) => [
    'patient',
    'patplan',
    'inssub',
    'insplan',
    'feesched',
    'provider',
    'patientlink',
    ...accountTables,
    ...(locations.isSingle ? [] : listingTables),
  ],
  tables: [plainTable('patient', 'PatNum')],
  keysPerChunk: 1000,

  readLookups: async (reading) => ({
    ...(await accountLookups(reading)),
    providers: await readSmallTable(reading, 'providers'),
    feeSchedules: await readSmallTable(reading, 'feeSchedules'),
    merges: await readSmallTable(reading, 'merges'),
  }),

  readHighest: (reading) => neverShrinking(reading, ['patient']),

  changedKeys: async (reading, since) => {
    if (since.changed('preferences').length > 0) return null
    const changed = changedKeys(reading.session.database)
    changed.addKeys((await since.rows('patient')).rows.map((row) => row.id))
    changed.addKeys((await since.rows('patplan')).rows.map((row) => row.PatNum))
    await changed.addNaming('select PatNum as id from patplan where', 'InsSubNum', await since.rows('inssub'))
    // A plan that is medical now, or no longer.
    await changed.addNaming(
      'select a.PatNum as id from inssub s straight_join patplan a on a.InsSubNum = s.InsSubNum where',
      's.PlanNum',
      await since.rows('insplan'),
    )
    const [before, now] = daysBetween(since.today, reading.today)
    if (before !== now) {
      await changed.add(
        `select a.PatNum as id
           from inssub s straight_join patplan a on a.InsSubNum = s.InsSubNum
          where s.DateTerm >= ? and s.DateTerm < ?`,
        [before, now],
      )
    }
    const ofPatient = 'select PatNum as id from patient where'
    await changed.addReferring(ofPatient, 'PatNum', since.changed('merges'))
    await changed.addReferring(ofPatient, 'BillingType', since.changed('definitions'))
    await changed.addReferring(ofPatient, 'PriProv', since.changed('providers'))
    await changed.addReferring(ofPatient, 'FeeSched', since.changed('feeSchedules'))
    // A cover that is dropped is deleted without a trace.
    await changed.addInRuns(ofPatient, 'PatNum', since.compared.differing('patplan.PatNum'))
    return [...changed.keys, ...(await changedListings(reading, since, changed.keys))]
  },

  readRecords: async (reading, lookups, keys) => {
    const { database, columns } = reading.session
    const optional = (name: string) => (columns.has(`patient.${name}`) ? name : `null as ${name}`)
    const rows = await database.query(
      `select PatNum, Title, LName, FName, MiddleI, Preferred, PatStatus, Gender, Birthdate, Email, WirelessPhone, HmPhone, WkPhone,
              Address, Address2, City, State, Zip, ${optional('Country')}, ChartNumber, Guarantor, PriProv, BillingType,
              Language, ${optional('PreferContactMethod')}, DateFirstVisit, FeeSched, ClinicNum,
              cast(EstBalance as decimal(19,2)) as EstBalance,
              ${columns.has('patient.InsEst') ? 'cast(InsEst as decimal(19,2)) as InsEst' : 'null as InsEst'}
         from patient
        where PatNum in (${keyList(keys)})
        order by PatNum`,
    )
    const plans = await readPlans(reading, keys)
    const places = await listPatients(
      reading,
      rows.map((row) => row.PatNum ?? ''),
    )
    return byLocation(
      rows.flatMap((row) => {
        const record = patient(row, lookups, plans.get(row.PatNum ?? ''), reading.locations.isSingle)
        return [...(places.get(record.source_id) ?? [])].map((id) => [id, record] as const)
      }),
    )
  },
}

type Plans = { readonly primary: string | null; readonly secondary: string | null }

/**
 * Open Dental's PatPlans.GetOrdinal: the first and the second of the dental plans, in the order of their ordinals, are the primary and the
 * secondary; medical plans are counted apart. A subscription that is gone, or ended before today, keeps its place and is no cover.
 */
async function readPlans({ session, today }: Reading, patientKeys: readonly string[]): Promise<Map<string, Plans>> {
  const rows = await session.database.query(
    `select a.PatNum, case when s.DateTerm < '1880-01-01' or s.DateTerm >= '${today}' then s.PlanNum end as PlanNum
       from patplan a
       left join inssub s on s.InsSubNum = a.InsSubNum
       left join insplan p on p.PlanNum = s.PlanNum
      where a.PatNum in (${keyList(patientKeys)}) and coalesce(p.IsMedical, 0) = 0
      order by a.Ordinal, a.PatPlanNum`,
  )
  const plans = new Map<string, Plans>()
  for (const [patient, covers] of Map.groupBy(rows, (row) => row.PatNum ?? '')) {
    const [primary = null, secondary = null] = covers.map((cover) => referenceOrNull(cover.PlanNum))
    plans.set(patient, { primary, secondary })
  }
  return plans
}

function patient(row: Row, lookups: Lookups, plans: Plans | undefined, isSingle: boolean): RecordOf<'patients'> {
  const id = row.PatNum ?? ''
  const guarantor = referenceOrNull(row.Guarantor)
  const mergedInto = referenceOrNull(lookups.merges?.rows.get(id)?.PatNumTo)
  const [status, statusRaw] = statuses[row.PatStatus ?? ''] ?? ['inactive', `Status ${row.PatStatus}`]
  const schedule = referenceOrNull(row.FeeSched)
  const attributes: RecordOf<'patients'>['attributes'] = {
    title: textOrNull(row.Title),
    first_name: textOrNull(row.FName),
    middle_name: textOrNull(row.MiddleI),
    last_name: textOrNull(row.LName),
    preferred_name: textOrNull(row.Preferred),
    date_of_birth: dateOrNull(row.Birthdate),
    gender: genders[row.Gender ?? ''] ?? 'unknown',
    status: mergedInto === null ? status : 'merged',
    status_raw: statusRaw,
    email: textOrNull(row.Email),
    mobile_phone: textOrNull(row.WirelessPhone),
    home_phone: textOrNull(row.HmPhone),
    work_phone: textOrNull(row.WkPhone),
    address_line_1: textOrNull(row.Address),
    address_line_2: textOrNull(row.Address2),
    city: textOrNull(row.City),
    state: textOrNull(row.State),
    postal_code: textOrNull(row.Zip),
    country: textOrNull(row.Country),
    chart_number: textOrNull(row.ChartNumber),
    guarantor_source_id: guarantor,
    primary_provider_name: providerName(lookups.providers, row.PriProv),
    billing_type: definitionName(lookups.definitions, 'billingTypes', row.BillingType),
    preferred_language: textOrNull(row.Language),
    preferred_contact_method: contactMethods[row.PreferContactMethod ?? ''] ?? null,
    first_visit_on: dateOrNull(row.DateFirstVisit),
    // 0 is no schedule; a number that names none dangles, and is none either.
    fee_schedule_source_id: schedule !== null && lookups.feeSchedules?.rows.has(schedule) ? schedule : null,
    primary_insurance_plan_source_id: plans?.primary ?? null,
    secondary_insurance_plan_source_id: plans?.secondary ?? null,
    balance: { total: moneyOrNull(row.EstBalance), insurance_estimate: moneyOrNull(row.InsEst), as_of: null },
    merged_into_source_id: mergedInto,
    is_hidden: row.PatStatus === '4',
  }
  // Where this patient is listed, the guarantor and the other of a merge are too.
  const others = isSingle ? [] : [guarantor, mergedInto].filter((other) => other !== null && other !== id)
  return { source_id: id, attributes, bearsOn: others.map((other) => `patients/${other}`) }
}
