import { newKey, type Practice } from './practice.ts'
import type { Random } from './random.ts'
import type { Fee, InsurancePlan } from './rows.ts'

/**
 * Rows that real databases hold: references to nothing, names of blanks, letters and months that mean nothing, a fee
 * of a code that is gone, a location's own fee on a global schedule, accents and quotes. Each is there once and for sure, whatever the seed.
 */
export function addOddities(practice: Practice, random: Random): void {
  const employers = [...practice.employers.values()]
  const employer = random.pick(employers)
  const usual = [...practice.insurancePlans.values()][0]
  const nothing = () => newKey(practice, 'carriers', random)
  const blankEmployer = { key: newKey(practice, 'employers', random), name: '  ' }
  const namelessCarrier = { key: newKey(practice, 'carriers', random), name: '', payerId: ' X1 ', isHidden: true }
  practice.employers.set(blankEmployer.key, blankEmployer)
  practice.carriers.set(namelessCarrier.key, namelessCarrier)

  const plans: Partial<InsurancePlan>[] = [
    { groupName: '', employerKey: employer.key },
    { groupName: '   ', employerKey: employer.key },
    { groupName: '', employerKey: null },
    { groupName: '', employerKey: blankEmployer.key },
    { groupName: '', employerKey: newKey(practice, 'employers', random) },
    { groupName: '  Blanks around \t', groupNumber: '   ' },
    { groupName: `Zoë's "Łódź" 100% \\ plan; --`, groupNumber: "O'1" },
    { carrierKey: nothing() },
    { carrierKey: namelessCarrier.key },
    { feeScheduleKey: newKey(practice, 'feeSchedules', random) },
    { feeScheduleKey: null },
    { planType: null },
    { renewalMonth: 13 },
    { renewalMonth: -1 },
    { planType: 'capitation', isMedical: true, isHidden: true },
  ]
  for (const change of plans) {
    const key = newKey(practice, 'insurancePlans', random)
    practice.insurancePlans.set(key, { ...(usual ?? bare), isHidden: false, ...change, key })
  }

  const schedule = {
    key: newKey(practice, 'feeSchedules', random),
    locationKey: null,
    name: '  ',
    type: 'other' as const,
    isGlobal: false,
    isHidden: true,
  }
  practice.feeSchedules.set(schedule.key, schedule)
  const general = { feeScheduleKey: schedule.key, locationKey: null, providerKey: null }
  const fees: Omit<Fee, 'key'>[] = [
    { ...general, procedureCodeKey: newKey(practice, 'procedureCodes', random), amountCents: 100 },
    { ...general, procedureCodeKey: [...practice.procedureCodes.keys()][0] ?? '0', amountCents: 0 },
    { ...general, procedureCodeKey: [...practice.procedureCodes.keys()][1] ?? '0', amountCents: 311_368 },
    { ...general, feeScheduleKey: newKey(practice, 'feeSchedules', random), procedureCodeKey: '1', amountCents: 500 },
  ]
  const global = {
    ...schedule,
    key: newKey(practice, 'feeSchedules', random),
    name: 'Global once',
    isGlobal: true,
    isHidden: false,
  }
  practice.feeSchedules.set(global.key, global)
  const everywhere = { ...general, feeScheduleKey: global.key, procedureCodeKey: fees[1]?.procedureCodeKey ?? '0' }
  for (const locationKey of [null, ...[...practice.locations.keys()].slice(0, 1)]) {
    fees.push({ ...everywhere, locationKey, amountCents: locationKey === null ? 5000 : 5500 })
  }
  for (const fee of fees) {
    const key = newKey(practice, 'fees', random)
    practice.fees.set(key, { key, ...fee })
  }
}

const bare: Omit<InsurancePlan, 'key'> = {
  locationKey: null,
  groupName: 'Plan',
  groupNumber: '',
  carrierKey: null,
  employerKey: null,
  feeScheduleKey: null,
  planType: 'percentage',
  renewalMonth: 0,
  isMedical: false,
  isHidden: false,
}
