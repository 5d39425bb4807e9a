import assert from 'node:assert/strict'
import test from 'node:test'
import { findDataset } from '@bridgework/contract'
import { createPractice, demoShape, openDentalShape } from './create-practice.ts'
import type { Practice } from './practice.ts'
import { tableNames } from './rows.ts'
import { truthOf } from './source-records.ts'

const asText = (practice: Practice) => JSON.stringify(tableNames.map((name) => [...practice[name]]))

test('the same seed gives the same practice, another seed another', () => {
  assert.equal(asText(createPractice(demoShape('one'))), asText(createPractice(demoShape('one'))))
  assert.notEqual(asText(createPractice(demoShape('one'))), asText(createPractice(demoShape('two'))))
})

test('the demo practice has three locations of different size, each with plans and schedules of its own', () => {
  const truth = truthOf(createPractice(demoShape('sizes')))
  const sizes = (dataset: 'insurance_plans' | 'fee_schedules') =>
    [...(truth.get(dataset)?.values() ?? [])].map((rows) => rows.length)
  assert.deepEqual(sizes('insurance_plans'), [120, 400, 40])
  assert.deepEqual(sizes('fee_schedules'), [8, 12, 6])
})

test('a plan of the demo practice refers only to what its own location has', () => {
  const practice = createPractice(demoShape('whole'))
  for (const plan of practice.insurancePlans.values()) {
    if (plan.carrierKey !== null) assert.ok(practice.carriers.has(plan.carrierKey))
    if (plan.employerKey !== null) assert.ok(practice.employers.has(plan.employerKey))
    if (plan.feeScheduleKey === null) continue
    assert.equal(practice.feeSchedules.get(plan.feeScheduleKey)?.locationKey, plan.locationKey)
  }
})

test('every record has exactly the attributes that the contract’s datasets ask for', () => {
  const truths = [demoShape('attributes'), openDentalShape('attributes')].map((shape) => truthOf(createPractice(shape)))
  for (const [dataset, locations] of truths.flatMap((truth) => [...truth])) {
    const names = Object.keys(findDataset(dataset)?.source.properties ?? {}).sort()
    for (const record of [...locations.values()].flat()) assert.deepEqual(Object.keys(record.attributes).sort(), names)
  }
})

test('an Open Dental practice holds each oddity whatever the seed, in either key style', () => {
  for (const keyStyle of ['sequential', 'random'] as const) {
    const practice = createPractice(openDentalShape(`odd/${keyStyle}`, { keyStyle }))
    const plans = [...practice.insurancePlans.values()]
    const records = truthOf(practice).get('insurance_plans')?.values().next().value ?? []
    assert.ok(plans.some((plan) => plan.carrierKey !== null && !practice.carriers.has(plan.carrierKey)))
    assert.ok(plans.some((plan) => plan.feeScheduleKey !== null && !practice.feeSchedules.has(plan.feeScheduleKey)))
    assert.ok(plans.some((plan) => plan.groupName !== plan.groupName.trim()))
    assert.ok(records.some(({ attributes }) => attributes.plan_name === ''))
    assert.ok(
      records.some(
        ({ attributes }) => attributes.plan_name !== '' && attributes.plan_name === attributes.employer_name,
      ),
    )
    assert.ok(records.some(({ attributes }) => attributes.plan_type === null))
    assert.ok(records.some(({ attributes }) => attributes.renewal_month === null))
    assert.ok([...practice.fees.values()].some((fee) => !practice.procedureCodes.has(fee.procedureCodeKey)))
    assert.ok([...practice.fees.values()].some((fee) => fee.amountCents === null))
    assert.ok([...practice.fees.values()].some((fee) => fee.locationKey !== null))
    assert.ok([...practice.fees.values()].some((fee) => fee.providerKey !== null))
  }
})
