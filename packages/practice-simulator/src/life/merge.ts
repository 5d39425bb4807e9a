import { related } from '../indexes.ts'
import { nowIn } from '../practice.ts'
import type { Patient } from '../rows/people.ts'
import { openAccount, openAccountOf } from './account.ts'
import type { Desk } from './desk.ts'

/** Two patients turn out to be one: whatever hangs on the one hangs on the other then. False when both have a visit on one day. */
export function mergePatients(desk: Desk, from: Patient, into: Patient): boolean {
  const { practice } = desk
  const daysOf = (key: string) =>
    related(practice, 'appointments', 'patient', key).flatMap((visit) => visit.startsAt?.slice(0, 10) ?? [])
  const days = new Set(daysOf(into.key))
  if (daysOf(from.key).some((day) => days.has(day))) return false

  const patientKey = into.key
  for (const row of related(practice, 'appointments', 'patient', from.key))
    desk.change('appointments', row, { patientKey })
  for (const row of related(practice, 'treatments', 'patient', from.key)) desk.change('treatments', row, { patientKey })
  for (const row of related(practice, 'claims', 'patient', from.key)) desk.change('claims', row, { patientKey })
  for (const row of related(practice, 'claimLines', 'patient', from.key)) desk.change('claimLines', row, { patientKey })
  for (const row of related(practice, 'payments', 'patient', from.key)) desk.change('payments', row, { patientKey })
  for (const row of related(practice, 'splits', 'patient', from.key)) desk.change('splits', row, { patientKey })
  for (const row of related(practice, 'adjustments', 'patient', from.key))
    desk.change('adjustments', row, { patientKey })
  for (const row of related(practice, 'paymentPlans', 'patient', from.key))
    desk.change('paymentPlans', row, { patientKey })
  for (const row of related(practice, 'planCharges', 'patient', from.key))
    desk.change('planCharges', row, { patientKey })
  for (const row of related(practice, 'paymentPlans', 'guarantor', from.key))
    desk.change('paymentPlans', row, { guarantorKey: patientKey })
  for (const row of related(practice, 'planCharges', 'guarantor', from.key))
    desk.change('planCharges', row, { guarantorKey: patientKey })
  for (const row of related(practice, 'coverages', 'patient', from.key)) desk.remove('coverages', row)
  for (const row of related(practice, 'subscriptions', 'subscriber', from.key))
    desk.change('subscriptions', row, { subscriberKey: patientKey })
  const last = related(practice, 'referrals', 'patient', patientKey).length
  for (const [index, row] of related(practice, 'referrals', 'patient', from.key).entries())
    desk.change('referrals', row, { patientKey, rank: last + index + 1 })
  for (const row of related(practice, 'referralSources', 'patient', from.key))
    desk.change('referralSources', row, { patientKey })
  for (const row of related(practice, 'patients', 'guarantor', from.key)) {
    if (row.key !== from.key) desk.change('patients', row, { guarantorKey: into.guarantorKey })
  }
  // Someone else's dependent answers for nobody: the account that stays behind is empty.
  const loser = practice.patients.get(from.key) ?? from
  desk.change('patients', loser, { status: 'archived', guarantorKey: from.key })
  desk.add('patientLinks', { fromKey: from.key, toKey: into.key, kind: 'merge', linkedAt: nowIn(practice) })
  openAccount(desk, from.key)
  openAccountOf(desk, into.key)
  return true
}
