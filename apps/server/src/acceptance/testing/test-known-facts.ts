import assert from 'node:assert/strict'
import type { TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import { balancesByFormula, balancesOf, cents } from './test-balances.ts'
import type { Name, View } from './test-vendor-copy.ts'

type Attributes = Record<string, unknown>
/** What a vendor sees at each clinic. */
export type Views = ReadonlyMap<string, View>
/** What the practice's one dynamic payment plan takes off: a procedure that nobody else paid for. */
const dynamicPlanCents = 16_758

type Facts = (database: TestDatabase, views: Views) => void | Promise<void>

/** What is known of the practice of 600 patients from elsewhere, on the day of its data: each by what it is about. */
export const knownFacts: Readonly<Record<string, Facts>> = {
  'patients by state, each where it is registered': async (database, views) => {
    const patients = everywhere(views, 'patients')
    assert.equal(patients.size, 640)
    assert.deepEqual(countBy(patients.values(), 'status_raw'), {
      Patient: 552,
      NonPatient: 18,
      Inactive: 26,
      Archived: 18,
      Deleted: 6,
      Deceased: 8,
      Prospective: 12,
    })
    assert.equal([...patients.values()].filter((patient) => patient.is_hidden).length, 6)
    const merged = [...patients.values()].filter((patient) => patient.status === 'merged')
    assert.deepEqual([merged.length, merged.every((patient) => typeof patient.merged_into === 'string')], [4, true])
    assert.equal(new Set([...patients.values()].map((patient) => patient.guarantor)).size, 519)
    const rows = await database.execute('select PatNum as id, ClinicNum as clinic from patient')
    const registered = rows.filter(({ id, clinic }) => views.get(String(clinic))?.patients[String(id)])
    assert.deepEqual(countBy(registered, 'clinic'), { 0: 69, 1: 388, 2: 183 })
  },

  'appointments by state and location, without those that were deleted': async (database, views) => {
    assert.deepEqual(
      [...views.values()].map((view) => Object.keys(view.appointments).length),
      [4, 2331, 1396],
    )
    const all = everywhere(views, 'appointments')
    const states = [...all.values()].map(({ status_raw }) => ({ state: String(status_raw).split(',')[0] }))
    assert.deepEqual(countBy(states, 'state'), {
      Scheduled: 111,
      Complete: 3445,
      UnschedList: 30,
      Broken: 101,
      Planned: 34,
      PtNote: 5,
      PtNoteCompleted: 5,
    })
    assert.equal([...all.values()].filter((appointment) => appointment.starts_at === null).length, 49)
    const deleted = await database.execute(
      'select distinct AptNum as id from histappointment where HistApptAction = 4 and AptNum not in (select AptNum from appointment)',
    )
    assert.deepEqual([deleted.length, deleted.filter(({ id }) => all.has(String(id)))], [12, []])
  },

  'completed procedures and what they cost, and deleted ones': (_, views) => {
    const all = [...everywhere(views, 'treatments').values()]
    const completed = all.filter((treatment) => treatment.status === 'completed')
    const units = completed.map(({ fee, quantity }) => Math.round(cents(fee) / Number(quantity)))
    assert.deepEqual(
      [completed.length, sum(completed, 'fee'), units.reduce((one, other) => one + other, 0)],
      [11_750, 164_278_881, 163_774_115],
    )
    assert.equal(all.filter((treatment) => treatment.is_hidden).length, 50)
  },

  'splits, transfers among them, without prepayments that do not show': async (database, views) => {
    const lines = everywhere(views, 'ledger_transactions')
    const [all] = await database.execute('select count(*) as n, round(sum(SplitAmt), 2) as total from paysplit')
    assert.deepEqual([Number(all?.n), cents(all?.total)], [3008, 101_217_168])
    const hidden = await database.execute(
      `select SplitNum as id, SplitAmt as amount
         from paysplit join definition on DefNum = UnearnedType and Category = 29 and ItemValue <> ''`,
    )
    assert.deepEqual([hidden.length, sum(hidden, 'amount')], [13, 260_130])
    assert.ok(hidden.every(({ id }) => !lines.has(`split:${id}`)))
    assert.deepEqual(ofTable(lines, 'split:'), [2995, -101_217_168 + 260_130])
    const transfers = [...lines.values()].filter((line) => line.transaction_type === 'transfer')
    assert.deepEqual([transfers.length, sum(transfers, 'amount')], [20, 0])
  },

  'charges, adjustments, insurance payments, write-offs and payment plans': (_, views) => {
    const lines = everywhere(views, 'ledger_transactions')
    assert.deepEqual(ofTable(lines, 'proc:'), [11_750, 164_278_881])
    assert.deepEqual(ofTable(lines, 'adj:'), [404, -185_079])
    const kinds = Map.groupBy(lines.values(), (line) => line.transaction_type)
    const ofKind = (kind: string) => [kinds.get(kind)?.length, sum(kinds.get(kind) ?? [], 'amount')]
    assert.deepEqual(ofKind('insurance_payment'), [1710, -14_891_156])
    assert.deepEqual(ofKind('write_off'), [1687, -1_208_818])
    const plans = kinds.get('payment_plan') ?? []
    const credits = plans.filter((line) => cents(line.amount) < 0)
    assert.deepEqual([credits.length, sum(credits, 'amount')], [11 + 1, -660_000 - dynamicPlanCents])
    assert.deepEqual(ofTable(lines, 'pplink:'), [1, -dynamicPlanCents])
    // Of 60 debits ten are due later, and six on a plan that tracks insurance have no effect.
    assert.ok(plans.length - credits.length <= 50)
  },

  'balances by guarantor as Open Dental’s own formula has them, to the cent': async (database, views) => {
    const balances = balancesOf(everywhere(views, 'ledger_transactions').values())
    assert.deepEqual(balances, await balancesByFormula(database, '2026-11-20'))
    const [owing, credit] = [Object.values(balances).filter((each) => each > 0), Object.values(balances).filter(below0)]
    const total = (amounts: number[]) => amounts.reduce((one, other) => one + other, 0)
    assert.deepEqual([owing.length, total(owing)], [205, 46_957_921])
    // The known balances leave the dynamic payment plan's credit out; with it a guarantor who owed nothing has a credit.
    assert.deepEqual([credit.length, total(credit)], [3 + 1, -74_881 - dynamicPlanCents])
    assert.equal(total(Object.values(balances)), 46_883_040 - dynamicPlanCents)
    assert.deepEqual([balances['10573'], Math.max(...owing)], [767_127, 767_127])
  },

  'referrals by direction and by who referred': async (database, views) => {
    const referrals = everywhere(views, 'patient_referrals')
    assert.deepEqual(countBy(referrals.values(), 'direction'), { incoming: 465 + 6, outgoing: 75 })
    const custom = await database.execute('select RefAttachNum as id from refattach where RefType = 2')
    assert.equal(custom.length, 6)
    for (const { id } of custom) referrals.delete(String(id))
    const incoming = [...referrals.values()].filter((referral) => referral.direction === 'incoming')
    const { patient, provider, marketing = 0, organization = 0, ...persons } = countBy(incoming, 'source_type')
    assert.deepEqual([marketing + organization, patient, provider], [246, 103, 102])
    // A referral whose referrer is missing tells of no kind.
    assert.equal(
      Object.values(persons).reduce((one, other) => one + other, 0),
      14,
    )
  },
}

/** Each record once, wherever it is listed. */
export function everywhere(views: Views, name: Name): Map<string, Attributes> {
  return new Map([...views.values()].flatMap((view) => Object.entries(view[name]) as [string, Attributes][]))
}

function ofTable(lines: ReadonlyMap<string, Attributes>, prefix: string): [number, number] {
  const found = [...lines].filter(([key]) => key.startsWith(prefix)).map(([, line]) => line)
  return [found.length, sum(found, 'amount')]
}

function sum(records: readonly Attributes[], attribute: string): number {
  return records.reduce((total, record) => total + cents(record[attribute]), 0)
}

function countBy(records: Iterable<Attributes>, attribute: string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const record of records) {
    const value = String(record[attribute])
    counts[value] = (counts[value] ?? 0) + 1
  }
  return counts
}

function below0(amount: number): boolean {
  return amount < 0
}
