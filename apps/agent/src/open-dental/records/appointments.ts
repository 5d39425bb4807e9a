import type { RecordOf } from '../../connector.ts'
import { changedKeys } from '../changes/changed-rows.ts'
import { keyAscending, keyList } from '../changes/keys.ts'
import { neverShrinking } from '../changes/never-shrinking.ts'
import { plainTable } from '../changes/record-table.ts'
import { definitionName, providerName, readSmallTable } from '../changes/small-tables.ts'
import { noteColumn } from '../changes/source-tables.ts'
import type { Row } from '../database/connection.ts'
import type { DatasetReader, Lookups, Reading } from '../dataset.ts'
import { byLocation } from '../location-map.ts'
import { timeOfDayOrNull, wallTimeOrNull } from '../time/wall-time.ts'
import { isTrue, moneyOrNull, referenceOrNull, sumOfMoney, textOrNull } from './values.ts'

const statusNames: Readonly<Record<string, string>> = {
  '0': 'None',
  '1': 'Scheduled',
  '2': 'Complete',
  '3': 'UnschedList',
  '4': 'ASAP',
  '5': 'Broken',
  '6': 'Planned',
  '7': 'PtNote',
  '8': 'PtNoteCompleted',
}

const statuses: Readonly<Record<string, string>> = {
  '1': 'scheduled',
  '2': 'completed',
  '3': 'unscheduled',
  '4': 'scheduled',
  '6': 'planned',
  '7': 'scheduled',
  '8': 'completed',
}

const broken = '5'

/** One unit of an appointment's pattern. */
const patternMinutes = 5

/** The contract lists no more. */
const treatmentsMax = 1000

/**
 * Appointments. They are deleted for good; the history's row of that is not always written, so the keys are compared.
 * Times are the server's wall time. What a visit is for is in the procedures that name it.
 */
export const appointments: DatasetReader = {
  reads: () => [
    'appointment',
    'histappointment',
    'procedurelog',
    'procedurecode',
    'definition',
    'provider',
    'operatory',
    'appointmenttype',
  ],
  tables: [plainTable('appointment', 'AptNum')],
  keysPerChunk: 2000,

  readLookups: async (reading) => ({
    definitions: await readSmallTable(reading, 'definitions'),
    providers: await readSmallTable(reading, 'providers'),
    operatories: await readSmallTable(reading, 'operatories'),
    appointmentTypes: await readSmallTable(reading, 'appointmentTypes'),
    groupNotes: await readSmallTable(reading, 'groupNotes'),
  }),

  readHighest: (reading) => neverShrinking(reading, ['procedurelog', 'histappointment']),

  changedKeys: async (reading, since) => {
    if (since.changed('groupNotes').length > 0) return null
    const changed = changedKeys(reading.session.database)
    changed.addKeys((await since.rows('appointment')).rows.map((row) => row.id))
    for (const row of (await since.rows('procedurelog')).rows) changed.addKeys([row.AptNum, row.PlannedAptNum])
    changed.addKeys((await since.rows('histappointment')).rows.map((row) => row.AptNum))
    const ofAppointment = 'select AptNum as id from appointment where'
    await changed.addReferring(ofAppointment, 'Confirmed', since.changed('definitions'))
    await changed.addReferring(ofAppointment, 'ProvNum', since.changed('providers'))
    await changed.addReferring(ofAppointment, 'ProvHyg', since.changed('providers'))
    await changed.addReferring(ofAppointment, 'Op', since.changed('operatories'))
    await changed.addReferring(ofAppointment, 'AppointmentTypeNum', since.changed('appointmentTypes'))
    return [...changed.keys]
  },

  readRecords: async (reading, lookups, keys) => {
    const rows = await reading.session.database.query(
      `select AptNum, PatNum, AptStatus, Pattern, Confirmed, Op, ${noteColumn(reading.session, 'appointment', 'appointment', 'Note')}, ProvNum, ProvHyg, AptDateTime, IsNewPatient,
              ClinicNum, IsHygiene, DateTimeArrived, DateTimeSeated, DateTimeDismissed, AppointmentTypeNum,
              ${reading.session.columns.has('appointment.SecDateTEntry') ? 'SecDateTEntry' : 'null as SecDateTEntry'}
         from appointment
        where AptNum in (${keyList(keys)})
        order by AptNum`,
    )
    const treatments = await readTreatments(reading, lookups, rows)
    const lastActions = await readLastActions(
      reading,
      rows.filter((row) => row.AptStatus === broken).map((row) => row.AptNum ?? ''),
    )
    return byLocation(
      rows.map((row) => {
        const locationId = reading.locations.of(row.ClinicNum)
        const id = row.AptNum ?? ''
        const record = appointment(row, lookups, {
          zone: reading.locations.zoneOf(locationId),
          treatments: treatments.get(id) ?? [],
          lastAction: lastActions.get(id) ?? null,
          isSingle: reading.locations.isSingle,
        })
        return [locationId, record] as const
      }),
    )
  },
}

type Treatment = { readonly key: string; readonly fee: string }

/** A planned visit's procedures name it in a column of their own. Deleted ones and group notes are no treatments of it. */
async function readTreatments(
  { session }: Reading,
  lookups: Lookups,
  appointmentRows: readonly Row[],
): Promise<Map<string, Treatment[]>> {
  const treatments = new Map<string, Treatment[]>()
  const groupNotes = [...(lookups.groupNotes?.rows.keys() ?? [])]
  for (const [column, isPlanned] of [
    ['AptNum', false],
    ['PlannedAptNum', true],
  ] as const) {
    const keys = appointmentRows.filter((row) => !isPlanned || row.AptStatus === '6')
    if (keys.length === 0) continue
    const rows = await session.database.query(
      `select ${column} as appointment, ProcNum,
              cast(ProcFee * greatest(1, UnitQty + BaseUnits) as decimal(19,2)) as Fee
         from procedurelog
        where ${column} in (${keyList(keys.map((row) => row.AptNum ?? ''))}) and ProcStatus <> 6
          ${groupNotes.length === 0 ? '' : `and CodeNum not in (${keyList(groupNotes)})`}`,
    )
    for (const row of rows) {
      const list = treatments.get(row.appointment ?? '') ?? []
      treatments.set(row.appointment ?? '', list)
      const key = row.ProcNum ?? ''
      if (!list.some((each) => each.key === key)) list.push({ key, fee: moneyOrNull(row.Fee) ?? '0.00' })
    }
  }
  for (const list of treatments.values()) list.sort((left, right) => keyAscending(left.key, right.key))
  return treatments
}

/**
 * How each broken appointment was broken: 2 is missed, 3 is cancelled. Open Dental's AppointmentL writes such a row when an appointment is broken
 * with the code D9986 or D9987. It counts until a later row shows the appointment in another state: a note that is added later changes nothing.
 */
async function readLastActions({ session }: Reading, keys: readonly string[]): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map()
  const rows = await session.database.query(
    `select AptNum, HistApptAction, AptStatus
       from histappointment
      where AptNum in (${keyList(keys)})
      order by HistDateTStamp, HistApptNum`,
  )
  const actions = new Map<string, string>()
  for (const { AptNum, HistApptAction, AptStatus } of rows) {
    if (HistApptAction === '2' || HistApptAction === '3') actions.set(AptNum ?? '', HistApptAction)
    else if (AptStatus !== broken) actions.delete(AptNum ?? '')
  }
  return actions
}

function appointment(
  row: Row,
  lookups: Lookups,
  context: { zone: string; treatments: readonly Treatment[]; lastAction: string | null; isSingle: boolean },
): RecordOf<'appointments'> {
  const { zone, treatments } = context
  const startsAt = wallTimeOrNull(row.AptDateTime, zone)
  const minutes = patternMinutes * (row.Pattern ?? '').length
  const patient = referenceOrNull(row.PatNum)
  const confirmation = definitionName(lookups.definitions, 'confirmations', row.Confirmed)
  const arrivedAt = timeOfDayOrNull(row.DateTimeArrived, zone)
  const seatedAt = timeOfDayOrNull(row.DateTimeSeated, zone)
  const statusName = statusNames[row.AptStatus ?? ''] ?? `Status ${row.AptStatus}`
  return {
    source_id: row.AptNum ?? '',
    attributes: {
      patient_source_id: patient,
      provider_name: providerName(lookups.providers, row.ProvNum),
      hygienist_name: providerName(lookups.providers, row.ProvHyg),
      operatory_name: textOrNull(lookups.operatories?.rows.get(row.Op ?? '')?.OpName),
      appointment_type: textOrNull(
        lookups.appointmentTypes?.rows.get(row.AppointmentTypeNum ?? '')?.AppointmentTypeName,
      ),
      status: statusOf(row.AptStatus ?? '', {
        confirmation,
        hasArrived: arrivedAt !== null,
        isSeated: seatedAt !== null,
        lastAction: context.lastAction,
      }),
      status_raw: confirmation === null ? statusName : `${statusName}, ${confirmation}`,
      starts_at: startsAt?.instant ?? null,
      ends_at: startsAt === null ? null : new Date(Date.parse(startsAt.instant) + minutes * 60_000).toISOString(),
      local_starts_at: startsAt?.local ?? null,
      time_zone: zone,
      duration_minutes: minutes,
      is_new_patient: isTrue(row.IsNewPatient),
      is_hygiene: isTrue(row.IsHygiene),
      is_block: row.AptStatus === '7' || row.AptStatus === '8',
      arrived_at: arrivedAt?.instant ?? null,
      seated_at: seatedAt?.instant ?? null,
      dismissed_at: timeOfDayOrNull(row.DateTimeDismissed, zone)?.instant ?? null,
      treatment_source_ids: treatments.slice(0, treatmentsMax).map((treatment) => treatment.key),
      scheduled_production:
        treatments.length === 0 ? null : sumOfMoney(...treatments.map((treatment) => treatment.fee)),
      note: textOrNull(row.Note),
      // When Open Dental inserted the row, on the server's clock; older rows than the column have the year 1.
      created_at: wallTimeOrNull(row.SecDateTEntry, zone)?.instant ?? null,
      is_hidden: false,
    },
    bearsOn: [
      ...(context.isSingle || patient === null ? [] : [`patients/${patient}`]),
      // A visit that is deleted takes nothing along: what was scheduled for it is planned again.
      ...treatments.map(({ key }) => `treatments/${key}`),
    ],
  }
}

function statusOf(
  status: string,
  now: { confirmation: string | null; hasArrived: boolean; isSeated: boolean; lastAction: string | null },
): string {
  if (status === broken) {
    if (now.lastAction === '2') return 'no_show'
    return now.lastAction === '3' ? 'cancelled' : 'broken'
  }
  if (status !== '1') return statuses[status] ?? 'unscheduled'
  if (now.isSeated) return 'in_chair'
  if (now.hasArrived) return 'arrived'
  return isConfirmed(now.confirmation) ? 'confirmed' : 'scheduled'
}

/** Practices name the steps of confirming themselves: "Confirmed by text", "Not confirmed", "Unconfirmed". */
function isConfirmed(confirmation: string | null): boolean {
  return confirmation !== null && /confirm/i.test(confirmation) && !/unconfirm|\bnot\b/i.test(confirmation)
}
