import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasets, getDataset } from '@bridgework/contract'
import { canonicalSource } from '@bridgework/contract/ingest'
import type { JsonValue } from '../connector.ts'
import { lineOf, packLines, unpackLines } from './line.ts'

const attributes = {
  plan_name: 'Plan é',
  group_number: null,
  carrier_name: 'C',
  payer_id: '1',
  employer_name: null,
  plan_type: 'ppo',
  renewal_month: 1,
  is_hidden: false,
  fee_schedule_source_id: '3',
}
const record = { source_id: '7', attributes, bearsOn: ['insurance_plans/8'] }

test('a record goes over the wire as its canonical text, whatever the order of its attributes', () => {
  for (const dataset of datasets) {
    const example = dataset.example as Record<string, JsonValue>
    const reversed = Object.fromEntries(Object.entries(example).reverse())
    const { json } = lineOf(dataset.name, { source_id: 'a "7"', attributes: reversed })
    assert.equal(json, `{"source_id":"a \\"7\\"","attributes":${canonicalSource(dataset)(example)}}`)
  }
})

test('the hash of a record is that of earlier releases, so an update of the agent sends nothing again', () => {
  const line = lineOf('insurance_plans', record)
  assert.deepEqual([line.hash, line.listHash], ['zAmNCXlkkSTRayYe901sGB', '198b730afbf7fda9'])
})

test('what does not fit the contract is sent whole, so that the service can refuse it and say why', () => {
  const unknown = lineOf('insurance_plans', { source_id: '7', attributes: { ...attributes, colour: 'red' } })
  assert.match(unknown.json, /"colour":"red"/)
  const { is_hidden: _, ...lacking } = attributes
  assert.deepEqual(
    JSON.parse(lineOf('insurance_plans', { source_id: '7', attributes: lacking }).json).attributes,
    lacking,
  )
  const patients = getDataset('patients')
  const odd = { ...(patients.example as Record<string, JsonValue>), other_source_ids: null }
  assert.deepEqual(JSON.parse(lineOf('patients', { source_id: '7', attributes: odd }).json).attributes, odd)
})

test('lines that were kept before the process died are the same lines, also of an earlier release', () => {
  const line = lineOf('insurance_plans', record)
  assert.deepEqual(unpackLines('insurance_plans', packLines([line]), [line.bearsOn]), [line])
  const sorted = Object.fromEntries(Object.entries(attributes).sort(([one], [other]) => (one < other ? -1 : 1)))
  const json = JSON.stringify({ source_id: '7', attributes: sorted })
  const earlier = { ...line, json, bytes: Buffer.byteLength(json) + 1 }
  assert.deepEqual(unpackLines('insurance_plans', packLines([earlier]), [line.bearsOn]), [earlier])
})
