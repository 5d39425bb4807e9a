import { changedKeys, daysBetween } from '../changes/changed-rows.ts'
import { keyList, slices } from '../changes/keys.ts'
import { readSmallTable } from '../changes/small-tables.ts'
import type { Reading, Since } from '../dataset.ts'
import { type AccountRows, accountRows } from './account-rows.ts'

/** Longer chains of guarantors and merged patients than any practice has; a ring ends by itself. */
const chainMax = 20

/** Tables whose rows list a patient, besides the patient's own. */
export const listingTables = [
  'appointment',
  'procedurelog',
  'procedurecode',
  'adjustment',
  'paysplit',
  'claimproc',
  'payplancharge',
  'referral',
  'refattach',
] as const

/**
 * Where each of these patients is listed: where they are registered, and wherever a record refers to them, as its
 * patient, as the guarantor or merge target of a patient who is listed there, or as the one who referred.
 */
export async function listPatients(
  reading: Reading,
  patients: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const places = new Map<string, Set<string>>()
  if (reading.locations.isSingle) {
    const everywhere = new Set(reading.locations.ids)
    return new Map(patients.map((patient) => [patient, everywhere]))
  }
  const answersFor = await dependents(reading, patients)
  const all = new Set([...patients, ...[...answersFor.values()].flatMap((others) => [...others])])
  const own = await placesOfRecords(reading, [...all])
  for (const patient of patients) {
    const reached = reachable(patient, answersFor)
    places.set(patient, new Set([...reached].flatMap((each) => [...(own.get(each) ?? [])])))
  }
  return places
}

/** For each patient, those whose guarantor they are or who were merged into them; theirs in turn included. */
async function dependents(reading: Reading, patients: readonly string[]): Promise<Map<string, Set<string>>> {
  const { rows: merges } = await readSmallTable(reading, 'merges')
  const mergedInto = Map.groupBy(merges, ([, row]) => row.PatNumTo ?? '')
  const answersFor = new Map<string, Set<string>>()
  const seen = new Set(patients)
  let next: readonly string[] = patients
  for (let step = 0; step < chainMax && next.length > 0; step++) {
    const found: string[] = []
    const add = (patient: string, other: string) => {
      if (patient === other) return
      answersFor.set(patient, (answersFor.get(patient) ?? new Set()).add(other))
      if (seen.has(other)) return
      seen.add(other)
      found.push(other)
    }
    for (const slice of slices(next, 5000)) {
      const rows = await reading.session.database.query(
        `select PatNum, Guarantor from patient where Guarantor in (${keyList(slice)}) and PatNum <> Guarantor`,
      )
      for (const row of rows) add(row.Guarantor ?? '', row.PatNum ?? '')
    }
    for (const patient of next) for (const [other] of mergedInto.get(patient) ?? []) add(patient, other)
    next = found
  }
  return answersFor
}

function reachable(patient: string, answersFor: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set([patient])
  for (const each of reached) for (const other of answersFor.get(each) ?? []) reached.add(other)
  return reached
}

/** Where each patient is registered or a record names them directly. */
async function placesOfRecords(reading: Reading, patients: readonly string[]): Promise<Map<string, Set<string>>> {
  const { session, locations } = reading
  const account = await accountRows(reading)
  const places = new Map<string, Set<string>>()
  for (const slice of slices(patients, 2000)) {
    for (const sql of placeStatements(account, keyList(slice))) {
      for (const row of await session.database.query(sql)) {
        const patient = row.PatNum ?? ''
        places.set(patient, (places.get(patient) ?? new Set()).add(locations.of(row.ClinicNum)))
      }
    }
  }
  return places
}

/** One statement per table, each by an index that begins with the patient. */
function placeStatements(account: AccountRows, patients: string): string[] {
  return [
    `select PatNum, ClinicNum from patient where PatNum in (${patients})`,
    `select distinct PatNum, ClinicNum from appointment where PatNum in (${patients})`,
    `select distinct PatNum, ClinicNum
       from procedurelog
      where PatNum in (${patients})
        and CodeNum not in (select CodeNum from procedurecode where ProcCode = '~GRP~')`,
    `select distinct PatNum, ClinicNum from adjustment where PatNum in (${patients})`,
    `select distinct s.PatNum, s.ClinicNum from paysplit s where s.PatNum in (${patients}) and ${account.split}`,
    `select distinct c.PatNum, c.ClinicNum
       from claimproc c
       left join procedurelog p on p.ProcNum = c.ProcNum and c.ProcNum <> 0
      where c.PatNum in (${patients}) and (${account.insurancePayment} or ${account.writeOff})`,
    `select distinct g.PatNum, g.ClinicNum
       from payplancharge g
       left join payplan l on l.PayPlanNum = g.PayPlanNum
      where g.PatNum in (${patients}) and g.ChargeType <> 0 and ${account.planCharge}`,
    `select distinct g.Guarantor as PatNum, g.ClinicNum
       from payplancharge g
       left join payplan l on l.PayPlanNum = g.PayPlanNum
      where g.Guarantor in (${patients}) and g.ChargeType = 0 and ${account.planCharge}`,
    `select distinct r.PatNum, p.ClinicNum
       from referral r
       straight_join refattach a on a.ReferralNum = r.ReferralNum
       straight_join patient p on p.PatNum = a.PatNum
      where r.PatNum in (${patients})`,
  ]
}

/**
 * Patients who may be listed elsewhere than before: those whom a changed record names, and up from them guarantors and
 * merge targets. (That a place was lost because a record vanished is found out by what the record bore on.)
 */
export async function changedListings(
  reading: Reading,
  since: Since,
  patientsChanged: ReadonlySet<string>,
): Promise<string[]> {
  if (reading.locations.isSingle) return []
  const changed = changedKeys(reading.session.database)
  for (const table of [
    'appointment',
    'procedurelog',
    'adjustment',
    'paysplit',
    'claimproc',
    'payplancharge',
  ] as const) {
    for (const row of (await since.rows(table)).rows) changed.addKeys([row.PatNum, row.Guarantor])
  }
  const [before, now] = daysBetween(since.today, reading.today)
  if (before !== now) {
    for (const column of ['PatNum', 'Guarantor']) {
      const due = `select distinct ${column} as id from payplancharge where ChargeDate > ? and ChargeDate <= ?`
      await changed.add(due, [before, now])
    }
  }
  const definitions = since.changed('definitions')
  await changed.addReferring('select distinct PatNum as id from paysplit where', 'UnearnedType', definitions)
  await changed.addReferring(
    'select distinct PatNum as id from payplancharge where',
    'PayPlanNum',
    since.changed('paymentPlans'),
  )
  changed.addKeys((await since.rows('referral')).rows.map((row) => row.PatNum))
  await changed.addReferring(
    'select PatNum as id from referral where',
    'ReferralNum',
    (await since.rows('refattach')).rows.map((row) => row.ReferralNum),
  )
  const named = new Set([...changed.keys, ...patientsChanged])
  for (const slice of slices([...patientsChanged], 5000)) {
    await changed.add(
      `select r.PatNum as id
         from refattach a straight_join referral r on r.ReferralNum = a.ReferralNum
        where a.PatNum in (${keyList(slice)}) and r.PatNum <> 0`,
    )
  }
  for (const id of changed.keys) named.add(id)
  return [...(await withThoseWhoAnswer(reading, named))].filter((id) => id !== '0')
}

async function withThoseWhoAnswer(reading: Reading, patients: ReadonlySet<string>): Promise<Set<string>> {
  const { rows: merges } = await readSmallTable(reading, 'merges')
  const all = new Set(patients)
  let next = [...patients]
  for (let step = 0; step < chainMax && next.length > 0; step++) {
    const found = new Set<string>()
    for (const patient of next) {
      const target = merges.get(patient)?.PatNumTo
      if (target !== null && target !== undefined) found.add(target)
    }
    for (const slice of slices(next, 5000)) {
      const rows = await reading.session.database.query(
        `select distinct Guarantor as id from patient where PatNum in (${keyList(slice)})`,
      )
      for (const row of rows) if (row.id !== null && row.id !== undefined) found.add(row.id)
    }
    next = [...found.difference(all)]
    for (const id of next) all.add(id)
  }
  return all
}
