import assert from 'node:assert/strict'
import test from 'node:test'
import { createPractice, demoShape, openDentalShape, type PracticeShape } from './create-practice.ts'
import { livingPractice } from './living-practice.ts'
import { nowIn, type Practice } from './practice.ts'
import { practiceEventNames } from './practice-events.ts'
import { tableNames } from './rows.ts'
import { recordsAffected, simulatedDatasets, type Truth } from './source-records.ts'

const live = (shape: PracticeShape) => livingPractice(createPractice(shape))

test('the same seed lives the same life, also when it goes on after a pause', () => {
  const [whole, first] = [live(demoShape('life')), live(demoShape('life'))]
  const events = Array.from({ length: 200 }, () => whole.moveOn())
  const before = Array.from({ length: 120 }, () => first.moveOn())
  const second = livingPractice(first.practice, first.eventsSoFar())
  const after = Array.from({ length: 80 }, () => second.moveOn())

  assert.deepEqual([...before, ...after], events)
  assert.deepEqual(second.truth(), whole.truth())
  assert.equal(second.eventsSoFar(), 200)
})

test('every kind of event happens', () => {
  const practice = live(demoShape('kinds'))
  const names = new Set(Array.from({ length: 6000 }, () => practice.moveOn().name))
  assert.deepEqual(
    practiceEventNames.filter((name) => !names.has(name)),
    [],
  )
})

test('no event leaves a reference to nothing, and the practice keeps its size', () => {
  const { practice, moveOn } = live(demoShape('whole'))
  for (let n = 0; n < 2000; n++) moveOn()
  assert.deepEqual(dangling(practice), [])
  assert.ok(practice.insurancePlans.size > 400 && practice.insurancePlans.size < 700)
  assert.ok(practice.feeSchedules.size >= 26 && practice.feeSchedules.size <= 40)
  assert.ok(practice.fees.size > 400)
})

test('with a limit the clock stands still there while the practice goes on, and nothing swells', () => {
  const living = live(demoShape('limit'))
  const until = '2026-11-23T10:00:00'
  const rows = () => tableNames.reduce((sum, table) => sum + living.practice[table].size, 0)
  const before = rows()
  for (let n = 0; n < 10_000; n++) living.moveOn(until)
  assert.equal(nowIn(living.practice), until)
  assert.ok(rows() < before * 1.6, `${before} → ${rows()}`)
})

test('events name exactly the records that they alter: those named differ afterwards, and no others', () => {
  // Smaller than the sandbox's: all records of all locations are compared after each event.
  const demo = demoShape('named')
  const locations = demo.locations.map(({ insurancePlans, feeSchedules, patients = 0 }) => ({
    insurancePlans: insurancePlans / 4,
    feeSchedules,
    patients: Math.round(patients / 4),
  }))
  for (const shape of [{ ...demo, locations }, openDentalShape('named', { keyStyle: 'random' })]) {
    const living = live(shape)
    let before = byKey(living.truth())
    for (let n = 0; n < 200; n++) {
      const { name, changes } = living.moveOn()
      const after = byKey(living.truth())
      for (const dataset of simulatedDatasets) {
        const named = new Set(changes.flatMap((change) => recordsAffected(living.practice, dataset, change)))
        const differing = differences(before.get(dataset) ?? new Map(), after.get(dataset) ?? new Map())
        assert.deepEqual(
          differing.filter((key) => !named.has(key)),
          [],
          name,
        )
        // A fee may be overruled at every location, and a carrier’s or employer’s name may belong to nothing but blanks.
        if (name.startsWith('insurance_plan')) assert.deepEqual([...named].sort(), differing.sort(), name)
      }
      before = after
    }
  }
})

test('two patients can be merged on demand, again and again, and no reference is left to nothing', () => {
  const { practice, mergeTwo } = live(demoShape('merged'))
  const before = practice.patientLinks.size
  for (let merges = 0; merges < 5; merges += 1) assert.ok(mergeTwo().changes.length > 1)
  const merged = [...practice.patientLinks.values()].slice(before)
  assert.equal(merged.length, 5)
  for (const { fromKey, kind } of merged) {
    assert.equal(kind, 'merge')
    assert.ok([...practice.appointments.values()].every(({ patientKey }) => patientKey !== fromKey))
  }
  assert.deepEqual(dangling(practice), [])
})

test('an event can be chosen, as a plan that returns under its old key', () => {
  const living = live(openDentalShape('returns'))
  const plan = [...living.practice.insurancePlans.values()][3]
  assert.ok(plan)
  const before = living.truth()
  living.apply({ name: 'insurance_plan_removed', changes: [{ table: 'insurancePlans', before: plan, after: null }] })
  assert.notDeepEqual(living.truth(), before)
  living.apply({ name: 'insurance_plan_added', changes: [{ table: 'insurancePlans', before: null, after: plan }] })
  assert.deepEqual(living.truth(), before)
})

function dangling(practice: Practice): string[] {
  const plans = [...practice.insurancePlans.values()].flatMap((plan) => [
    plan.carrierKey === null || practice.carriers.has(plan.carrierKey) ? [] : `carrier ${plan.carrierKey}`,
    plan.employerKey === null || practice.employers.has(plan.employerKey) ? [] : `employer ${plan.employerKey}`,
    plan.feeScheduleKey === null || practice.feeSchedules.has(plan.feeScheduleKey)
      ? []
      : `schedule ${plan.feeScheduleKey}`,
  ])
  const fees = [...practice.fees.values()].flatMap((fee) => [
    practice.feeSchedules.has(fee.feeScheduleKey) ? [] : `schedule ${fee.feeScheduleKey}`,
    practice.procedureCodes.has(fee.procedureCodeKey) ? [] : `code ${fee.procedureCodeKey}`,
  ])
  return [...plans, ...fees].flat()
}

/** Dataset → record key → its content at every location. */
function byKey(truth: Truth): Map<string, Map<string, string>> {
  return new Map(
    [...truth].map(([dataset, locations]) => {
      const contents = new Map<string, string>()
      for (const [location, records] of locations) {
        for (const record of records) {
          const text = `${location} ${JSON.stringify(record.attributes)}`
          contents.set(record.source_id, `${contents.get(record.source_id) ?? ''}${text}`)
        }
      }
      return [dataset, contents]
    }),
  )
}

function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key))
}
