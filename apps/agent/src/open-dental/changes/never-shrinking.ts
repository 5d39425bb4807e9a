import type { Reading } from '../dataset.ts'

/**
 * Highest keys and stamps of tables whose rows Open Dental never deletes: procedures and patients keep a tombstone,
 * appointments' history only grows. Lower than before, they tell a restored backup from the newest row's deletion.
 */
export async function neverShrinking(
  reading: Pick<Reading, 'session' | 'lookup'>,
): Promise<Readonly<Record<string, string>>> {
  const { rows } = await reading.lookup('never shrinking', async () => {
    const [row] = await reading.session.database.query(
      `select (select max(ProcNum) from procedurelog) as proc_key,
              (select max(DateTStamp) from procedurelog) as proc_stamp,
              (select max(PatNum) from patient) as patient_key,
              (select max(HistApptNum) from histappointment) as history_key`,
    )
    return { rows: new Map([['', row ?? {}]]), marks: {} }
  })
  const row = rows.get('') ?? {}
  return {
    'procedurelog.ProcNum': row.proc_key ?? '0',
    'procedurelog.DateTStamp': row.proc_stamp ?? '',
    'patient.PatNum': row.patient_key ?? '0',
    'histappointment.HistApptNum': row.history_key ?? '0',
  }
}
