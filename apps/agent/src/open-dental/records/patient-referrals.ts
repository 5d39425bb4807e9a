import type { RecordOf } from '../../connector.ts'
import { changedKeys } from '../changes/changed-rows.ts'
import { keyAscending, keyList } from '../changes/keys.ts'
import { neverShrinking } from '../changes/never-shrinking.ts'
import { plainTable } from '../changes/record-table.ts'
import { definitionName, readSmallTable } from '../changes/small-tables.ts'
import { noteColumn } from '../changes/source-tables.ts'
import type { Row } from '../database/connection.ts'
import type { DatasetReader, Lookups, Reading } from '../dataset.ts'
import { byLocation } from '../location-map.ts'
import { dateOrNull, isTrue, referenceOrNull, text, textOrNull } from './values.ts'

const outcomes: Readonly<Record<string, string>> = {
  '0': 'none',
  '1': 'declined',
  '2': 'scheduled',
  '3': 'consulted',
  '4': 'in_treatment',
  '5': 'completed',
}

/**
 * Who sent a patient and whom a patient was sent to, at the location where the patient is registered. Which source comes
 * first depends on the patient's other referrals, so all of a patient's are read when one changes or vanishes.
 */
export const patientReferrals: DatasetReader = {
  reads: () => ['refattach', 'referral', 'patient', 'definition'],
  tables: [plainTable('refattach', 'RefAttachNum')],
  keysPerChunk: 5000,

  readLookups: async (reading) => ({ definitions: await readSmallTable(reading, 'definitions') }),

  readHighest: (reading) => neverShrinking(reading, ['patient']),

  changedKeys: async (reading, since) => {
    const changed = changedKeys(reading.session.database)
    const ofReferral = 'select RefAttachNum as id from refattach where'
    // With all others of the same patient.
    const patients = (await since.rows('refattach')).rows.map((row) => row.PatNum)
    await changed.addReferring(ofReferral, 'PatNum', patients)
    await changed.addInRuns(ofReferral, 'PatNum', since.compared.differing('refattach.PatNum'))
    await changed.addNaming(ofReferral, 'ReferralNum', await since.rows('referral'))
    // The patient's clinic is the referral's.
    await changed.addNaming(ofReferral, 'PatNum', await since.rows('patient'))
    await changed.addReferring(
      'select a.RefAttachNum as id from referral r straight_join refattach a on a.ReferralNum = r.ReferralNum where',
      'r.Specialty',
      since.changed('definitions'),
    )
    return [...changed.keys]
  },

  readRecords: async (reading, lookups, keys) => {
    const rows = await reading.session.database.query(
      `select a.RefAttachNum, a.PatNum, a.ItemOrder, a.RefDate, a.RefType, a.RefToStatus, ${noteColumn(reading.session, 'refattach', 'a', 'Note')}, a.ProcNum, p.ClinicNum,
              r.ReferralNum, r.FName, r.LName, r.PatNum as ReferrerNum, r.IsDoctor, r.NotPerson, r.Specialty, r.NationalProvID
         from refattach a
         left join referral r on r.ReferralNum = a.ReferralNum
         left join patient p on p.PatNum = a.PatNum
        where a.RefAttachNum in (${keyList(keys)})
        order by a.RefAttachNum`,
    )
    const first = await readFirst(
      reading,
      rows.map((row) => row.PatNum ?? ''),
    )
    return byLocation(
      rows.map((row) => {
        const isFirst = first.get(row.PatNum ?? '') === row.RefAttachNum
        return [
          reading.locations.of(row.ClinicNum),
          patientReferral(row, lookups, isFirst, reading.locations.isSingle),
        ] as const
      }),
    )
  },
}

/** The referral by which each patient first came, by the practice's own order. */
async function readFirst({ session }: Reading, patients: readonly string[]): Promise<Map<string, string>> {
  const first = new Map<string, { id: string; order: number }>()
  if (patients.length === 0) return new Map()
  const rows = await session.database.query(
    `select RefAttachNum as id, PatNum, ItemOrder from refattach where PatNum in (${keyList(patients)}) and RefType <> 0`,
  )
  for (const row of rows) {
    const [patient, id, order] = [row.PatNum ?? '', row.id ?? '', Number(row.ItemOrder)]
    const known = first.get(patient)
    const isEarlier =
      known === undefined || order < known.order || (order === known.order && keyAscending(id, known.id) < 0)
    if (isEarlier) first.set(patient, { id, order })
  }
  return new Map([...first].map(([patient, { id }]) => [patient, id]))
}

function patientReferral(
  row: Row,
  lookups: Lookups,
  isFirst: boolean,
  isSingle: boolean,
): RecordOf<'patient_referrals'> {
  const isOutgoing = row.RefType === '0'
  const patient = referenceOrNull(row.PatNum)
  const referrer = referenceOrNull(row.ReferrerNum)
  const name = textOrNull(`${text(row.FName)} ${text(row.LName)}`)
  return {
    source_id: row.RefAttachNum ?? '',
    attributes: {
      patient_source_id: patient,
      direction: isOutgoing ? 'outgoing' : 'incoming',
      source_type: sourceType(row),
      source_name: name,
      referring_patient_source_id: referrer,
      referring_provider: isTrue(row.IsDoctor)
        ? {
            name,
            specialty: definitionName(lookups.definitions, 'specialties', row.Specialty),
            npi: textOrNull(row.NationalProvID),
          }
        : null,
      campaign: null,
      attribution_role: isOutgoing ? null : isFirst ? 'primary' : 'secondary',
      rank: Number(row.ItemOrder),
      referred_on: dateOrNull(row.RefDate),
      status: outcomes[row.RefToStatus ?? ''] ?? null,
      treatment_source_id: referenceOrNull(row.ProcNum),
      note: textOrNull(row.Note),
      is_hidden: false,
    },
    bearsOn: isSingle ? [] : [patient, referrer].filter((id) => id !== null).map((id) => `patients/${id}`),
  }
}

/** A referral whose source is gone has none. */
function sourceType(row: Row): string | null {
  if (row.ReferralNum === null || row.ReferralNum === undefined) return null
  if (referenceOrNull(row.ReferrerNum) !== null) return 'patient'
  if (isTrue(row.IsDoctor)) return 'provider'
  if (isTrue(row.NotPerson)) return row.RefType === '1' ? 'marketing' : 'organization'
  return 'other'
}
