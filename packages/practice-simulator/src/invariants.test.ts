import assert from 'node:assert/strict'
import test from 'node:test'
import { type Dataset, datasets } from '@bridgework/contract'
import type { SourceRecord } from '@bridgework/contract/ingest'
import { createPractice, demoShape, openDentalShape, type PracticeShape } from './create-practice.ts'
import { related, workerOf } from './indexes.ts'
import { livingPractice } from './living-practice.ts'
import { nowIn, type Practice, todayIn } from './practice.ts'
import { type Truth, truthOf } from './source-records.ts'
import { addMinutes, instantOf, minuteOf, weekdayOf } from './wall-time.ts'

const shapes: readonly (readonly [string, PracticeShape])[] = [
  ['a demo practice', demoShape('invariants')],
  ['an Open Dental practice with random keys', openDentalShape('invariants', { keyStyle: 'random' })],
]

for (const [name, shape] of shapes) {
  test(`${name} holds together at first and through a life of changes`, async (t) => {
    const living = livingPractice(createPractice(shape))
    for (const events of [0, 400, 1200]) {
      for (let n = 0; n < events; n++) living.moveOn()
      const truth = living.truth()
      const when = `after ${living.eventsSoFar()} events`
      await t.test(`the ledger adds up to every account's balance, to the cent, ${when}`, () =>
        assertBalanced(living.practice, truth),
      )
      await t.test(`nobody and no room is booked twice, or outside working hours, ${when}`, () =>
        assertNotDoubleBooked(living.practice),
      )
      await t.test(`every reference of every record resolves inside its location, ${when}`, () => assertWhole(truth))
      await t.test(`the ledger enters nothing in the future, ${when}`, () => {
        // The last of the zones in which locations are.
        const now = instantOf(nowIn(living.practice), 'America/Los_Angeles')
        const isLate = ({ attributes: { transaction_on, entered_at } }: SourceRecord) =>
          String(transaction_on) > todayIn(living.practice) || String(entered_at ?? '') > now
        assert.deepEqual(all(truth, 'ledger_transactions').filter(isLate), [])
      })
      await t.test(`insurance and patients never pay for what was not done, ${when}`, () =>
        assertPaidForWhatIsDone(living.practice),
      )
    }
  })
}

test('a practice of three locations with three years of history is made in seconds and holds together', () => {
  const startedAtMs = Date.now()
  const locations = [500, 500, 500].map((patients) => ({ insurancePlans: 40, feeSchedules: 6, patients }))
  const practice = createPractice({ ...demoShape('large'), locations, years: 3 })
  assert.ok(Date.now() - startedAtMs < 15_000)
  assert.ok(practice.patients.size >= 1500 && practice.treatments.size > 10_000)
  assertBalanced(practice, truthOf(practice))
  assertNotDoubleBooked(practice)
})

/**
 * By guarantor, over all locations: what vendors add up is what Open Dental's formula gives from the rows, and what the software itself
 * last counted.
 */
function assertBalanced(practice: Practice, truth: Truth): void {
  const credited = new Map<string, number>()
  const told1 = new Map<string, number>()
  for (const record of all(truth, 'ledger_transactions')) {
    const { amount, guarantor_source_id: guarantor, patient_source_id: patient } = record.attributes
    const cents = Math.round(Number(amount) * 100)
    credited.set(String(guarantor), (credited.get(String(guarantor)) ?? 0) + cents)
    told1.set(String(patient), (told1.get(String(patient)) ?? 0) + cents)
  }
  for (const patient of practice.patients.values()) {
    assert.equal(told1.get(patient.key) ?? 0, patient.balanceCents, `balance of patient ${patient.key}`)
    if (patient.guarantorKey !== patient.key) continue
    const family = related(practice, 'patients', 'guarantor', patient.key)
    const owed = family.reduce((sum, member) => sum + owedByFormula(practice, member.key), 0)
    assert.equal(credited.get(patient.key) ?? 0, owed, `family of ${patient.key}`)
  }
}

/** As Open Dental's ageing adds it up, table by table. */
function owedByFormula(practice: Practice, key: string): number {
  const sum = <Row>(rows: Iterable<Row>, cents: (row: Row) => number) =>
    [...rows].reduce((all, row) => all + cents(row), 0)
  const isDone = (treatment: string | null) =>
    treatment === null || practice.treatments.get(treatment)?.status === 'complete'
  return (
    sum(related(practice, 'treatments', 'patient', key), (row) =>
      row.status === 'complete' ? row.feeCents * row.quantity : 0,
    ) +
    sum(related(practice, 'adjustments', 'patient', key), (row) => row.amountCents) -
    sum(related(practice, 'splits', 'patient', key), (row) =>
      practice.definitions.get(row.unearnedTypeKey ?? '')?.value ? 0 : row.amountCents,
    ) -
    sum(related(practice, 'claimLines', 'patient', key), (row) =>
      ['received', 'supplemental'].includes(row.status) && isDone(row.treatmentKey)
        ? row.paidCents + row.writeOffCents
        : 0,
    ) +
    sum([...practice.planCharges.values()], (row) => {
      if (row.chargeOn > todayIn(practice)) return 0
      if (row.kind === 'credit') return row.patientKey === key ? -row.principalCents : 0
      return row.guarantorKey === key ? row.principalCents + row.interestCents : 0
    })
  )
}

function assertNotDoubleBooked(practice: Practice): void {
  const visits = [...practice.appointments.values()].filter(
    (visit) => visit.startsAt !== null && ['scheduled', 'complete', 'note', 'note_complete'].includes(visit.status),
  )
  const resources = [
    (visit: (typeof visits)[number]) => visit.operatoryKey,
    (visit: (typeof visits)[number]) => workerOf(visit),
    (visit: (typeof visits)[number]) => visit.patientKey,
  ]
  for (const resourceOf of resources) {
    for (const [resource, taken] of Map.groupBy(visits, resourceOf)) {
      if (resource === null) continue
      const inOrder = taken.toSorted((one, other) => ((one.startsAt ?? '') < (other.startsAt ?? '') ? -1 : 1))
      for (const [index, visit] of inOrder.entries()) {
        const next = inOrder[index + 1]
        if (next !== undefined) {
          const end = addMinutes(visit.startsAt ?? '', visit.minutes)
          assert.ok(end <= (next.startsAt ?? ''), `${visit.key} and ${next.key} at once`)
        }
      }
    }
  }
  for (const visit of visits) {
    const worker = practice.providers.get(workerOf(visit))
    const [day, start] = [(visit.startsAt ?? '').slice(0, 10), minuteOf(visit.startsAt ?? '')]
    assert.ok(worker)
    assert.ok(worker.weekdays.includes(weekdayOf(day)))
    assert.ok(start >= worker.fromMinute && start + visit.minutes <= worker.toMinute, `${visit.key} outside hours`)
  }
}

/** A treatment done at one location in a visit to another is the one reference that may lead out of a location. */
function assertWhole(truth: Truth): void {
  const keys = new Map<string, Set<string>>()
  for (const [dataset, locations] of truth) {
    for (const [location, records] of locations)
      keys.set(`${dataset}/${location}`, new Set(records.map((record) => record.source_id)))
  }
  for (const [name, locations] of truth) {
    const dataset = datasets.find((each) => each.name === name)
    assert.ok(dataset)
    for (const [location, records] of locations) {
      for (const record of records) {
        for (const { target, key } of references(dataset, record)) {
          const isThere: boolean | undefined = keys.get(`${target}/${location}`)?.has(key)
          const isSomewhere: boolean = [...(truth.get(target as never)?.keys() ?? [])].some((each) =>
            keys.get(`${target}/${each}`)?.has(key),
          )
          const mayLeadOut: boolean =
            target === 'treatments' || target === 'appointments' || target === 'insurance_plans'
          assert.ok(isThere || (mayLeadOut && isSomewhere), `${name} ${record.source_id} → ${target} ${key}`)
        }
      }
    }
  }
}

function references(dataset: Dataset, record: SourceRecord): { target: string; key: string }[] {
  return dataset.refersTo.flatMap((rule) =>
    rule.keysOf({ ...record.attributes }).map((key) => ({ target: rule.dataset, key })),
  )
}

function assertPaidForWhatIsDone(practice: Practice): void {
  for (const line of practice.claimLines.values()) {
    const treatment = practice.treatments.get(line.treatmentKey ?? '')
    assert.ok(treatment && treatment.status !== 'deleted')
    if (line.status !== 'estimate') assert.equal(treatment.status, 'complete')
    assert.equal(line.patientKey, treatment.patientKey)
  }
  for (const split of practice.splits.values()) {
    assert.ok(practice.payments.has(split.paymentKey))
    if (split.treatmentKey !== null) assert.equal(practice.treatments.get(split.treatmentKey)?.status, 'complete')
  }
  for (const payment of practice.payments.values()) {
    const splits = related(practice, 'splits', 'payment', payment.key)
    assert.equal(
      splits.reduce((sum, split) => sum + split.amountCents, 0),
      payment.amountCents,
    )
  }
  for (const payment of practice.claimPayments.values()) {
    const lines = related(practice, 'claimLines', 'claimPayment', payment.key)
    assert.equal(
      lines.reduce((sum, line) => sum + line.paidCents, 0),
      payment.amountCents,
    )
  }
}

function all(truth: Truth, dataset: 'ledger_transactions'): SourceRecord[] {
  return [...(truth.get(dataset)?.values() ?? [])].flat()
}
