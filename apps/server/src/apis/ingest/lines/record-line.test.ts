import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Dataset, datasetNames, datasets, getDataset } from '@bridgework/contract'
import { Problem } from '../../../platform/errors/problem.ts'
import { createLineReader } from './record-line.ts'

const plans = getDataset(datasetNames[1] ?? assert.fail())
const readerOf = (dataset: Dataset) => {
  const read = createLineReader(dataset)
  return (lines: readonly string[]) => lines.map((text, index) => read(text, index + 1))
}
const read = readerOf(plans)
const line = (attributes: object, more: object = {}) =>
  JSON.stringify({ source_id: '7', attributes: { ...plans.example, ...attributes }, ...more })

function refusal(lines: string[]): string {
  return problemOf(lines).errors
}

function problemOf(lines: string[]): Problem {
  try {
    read(lines)
  } catch (error) {
    assert.ok(error instanceof Problem)
    assert.equal(error.code, 'record_invalid')
    return error
  }
  assert.fail('was not refused')
}

test('every dataset’s example is a valid upload', () => {
  for (const dataset of datasets) {
    const [record] = readerOf(dataset)([JSON.stringify({ source_id: '1', attributes: dataset.example })])
    assert.deepEqual(JSON.parse(record?.source ?? ''), dataset.example)
  }
})

test('G07, G08: a refused line is named with its field and its rule, and never with its value', () => {
  const secret = 'Hunter Twosecret'
  assert.equal(
    refusal([line({}), line({ group_number: 5 })]),
    'Line 2: attributes.group_number must be a string of at most 500 characters or null.',
  )
  assert.equal(
    refusal([line({ renewal_month: 13 })]),
    'Line 1: attributes.renewal_month must be a whole number from 1 to 12 or null.',
  )
  assert.equal(
    refusal([line({ plan_type: secret })]),
    'Line 1: attributes.plan_type must be one of percentage, ppo, flat_copay, capitation or null.',
  )
  assert.match(refusal([line({ [secret]: 1 })]), /^Line 1: attributes has a member that is not known/)
  assert.match(
    refusal([line({ plan_name: secret.repeat(70_000) })]),
    /attributes.plan_name must be a string of at most 500/,
  )
  assert.match(refusal([line({ plan_name: null })]), /attributes.plan_name must be a string/)
  assert.match(refusal([line({}, { [secret]: 1 })]), /^Line 1: the line has a member that is not known/)
  assert.match(
    refusal([line({ fee_schedule_source_id: 'a\u0000' })]),
    /fee_schedule_source_id must be a string of 1 to 255/,
  )
  assert.match(refusal(['{"source_id":"1"']), /^Line 1: the line is not valid JSON/)
  assert.match(refusal(['[]']), /the line must be an object/)
  assert.match(refusal(['{"source_id":"1","attributes":{}}']), /attributes.plan_name is missing/)
  assert.match(refusal(['{"source_id":"1","removed":false}']), /removed must be true/)
  assert.match(refusal(['{"source_id":"","removed":true}']), /source_id must be a string of 1 to 255/)
  assert.match(refusal([line({ plan_name: '\ud800' })]), /well-formed Unicode/)
  assert.match(refusal(['{"source_id":"1","attributes":{"__proto__":1}}']), /not known/)
  for (const text of [secret]) assert.doesNotMatch(refusal([line({ [text]: text })]), /Hunter/)
})

test('a program finds the refused line and field without reading the text', () => {
  for (const [lines, number, field] of [
    [[line({}), '{'], 2, null],
    [['[]'], 1, null],
    [[line({ renewal_month: 13 })], 1, 'attributes.renewal_month'],
    [[line({ nothing: 1 })], 1, 'attributes'],
    [['{"source_id":"1","attributes":{}}'], 1, 'attributes.plan_name'],
    [[line({ plan_name: '\ud800' })], 1, null],
    [[line({}), '{"source_id":"","removed":true}'], 2, 'source_id'],
  ] as const) {
    assert.deepEqual(problemOf([...lines]).members, { line: number, field })
  }
})

test('G08: instants, wall times, days and money have one spelling each', () => {
  const appointments = readerOf(getDataset(datasetNames[3] ?? assert.fail()))
  const example = getDataset(datasetNames[3] ?? assert.fail()).example
  const told = (attributes: object) => {
    try {
      appointments([JSON.stringify({ source_id: '1', attributes: { ...example, ...attributes } })])
      return 'taken'
    } catch (error) {
      return (error as Problem).errors
    }
  }
  assert.equal(told({}), 'taken')
  for (const text of [
    '2026-02-03T17:00:00Z',
    '2026-02-03T17:00:00.000+01:00',
    '2026-02-03t17:00:00.000z',
    '2026-02-30T25:00:00.000Z',
  ]) {
    assert.equal(
      told({ starts_at: text }),
      'Line 1: attributes.starts_at must be an instant in UTC, YYYY-MM-DDTHH:MM:SS.sssZ or null.',
      text,
    )
  }
  assert.match(told({ local_starts_at: '2026-02-03 09:00' }), /local_starts_at must be a time on the wall clock/)
  assert.match(told({ scheduled_production: '1,000' }), /scheduled_production must be a decimal string/)
  assert.match(told({ treatment_source_ids: [7] }), /treatment_source_ids\[0\] must be a string of 1 to 255/)
})

test('G11: U+0000 in any attribute or key is refused, and the field named', () => {
  for (const [name, value] of Object.entries({ plan_name: 'a\u0000b', group_number: '\\\u0000' })) {
    const { errors, members } = problemOf([line({}), line({ [name]: value }, { source_id: '8' })])
    assert.equal(errors, `Line 2: attributes.${name} contains the character U+0000. Leave it out.`)
    assert.deepEqual(members, { line: 2, field: `attributes.${name}` })
  }
  assert.match(refusal([line({}, { source_id: 'a\u0000' })]), /source_id must be .* without control characters/)
})

test('G11: hostile text is stored as it is', () => {
  const hostile = '=HYPERLINK("x") <script> \'; drop table \r\nSet-Cookie: {{x}} \\ud800 \\u0000 \u0001\u001b'
  const [record] = read([line({ plan_name: hostile })])
  assert.equal(JSON.parse(record?.source ?? '').plan_name, hostile)
})

test('the same record in another order of members is the same record', () => {
  const reversed = Object.fromEntries(Object.entries(plans.example).reverse())
  const [one] = read([JSON.stringify({ source_id: '7', attributes: plans.example })])
  const [other] = read([JSON.stringify({ attributes: reversed, source_id: '7' })])
  assert.equal(one?.source, other?.source)
})
