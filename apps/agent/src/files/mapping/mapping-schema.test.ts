import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'smol-toml'
import { Compile } from 'typebox/schema'
import { oneDataset } from '../testing/test-folder.ts'
import { readMapping } from './mapping.ts'
import {
  formatSettings,
  locationSettings,
  lookupSettings,
  mappingSchema,
  recordSettings,
  ruleSettings,
  topSettings,
} from './mapping-schema.ts'

const schemaFile = fileURLToPath(new URL('../../../examples/files/mapping.schema.json', import.meta.url))
const guide = readFileSync(new URL('../../../../../docs/guides/export-files.md', import.meta.url), 'utf8')
const fits = Compile(mappingSchema())

test('examples/files/mapping.schema.json is what the code says', () => {
  const text = JSON.stringify(mappingSchema())
  if (process.env.BRIDGEWORK_TEST_UPDATE === '1') writeFileSync(schemaFile, text)
  assert.deepEqual(
    JSON.parse(readFileSync(schemaFile, 'utf8')),
    JSON.parse(text),
    'after a change of a setting: BRIDGEWORK_TEST_UPDATE=1 npm test -- apps/agent/src/files/mapping-schema.test.ts && npm run format',
  )
})

test('the schema takes what the agent takes, and knows no setting that the agent does not', () => {
  const plan = { file: 'p.csv', key: 'No', attributes: { plan_name: 'Name' } }
  const example = parse(readFileSync(new URL('../../../examples/files/mapping.toml', import.meta.url), 'utf8'))
  const good = [example, oneDataset('insurance_plans', plan), { ...oneDataset('insurance_plans', plan), version: 2 }]
  for (const document of good) {
    assert.deepEqual(readMapping(document, () => 'UTC').faults, [])
    assert.ok(fits.Check(document), JSON.stringify(fits.Errors(document)))
  }
  for (const bad of [
    { ...plan, fiel: 'x' },
    { ...plan, attributes: { plan_nam: 'Name' } },
    { ...plan, attributes: { plan_name: { column: 'Name', scale: 2 } } },
    { ...plan, quotes: 'none' },
    { ...plan, files: [{ file: 'x', colour: 1 }] },
  ]) {
    const document = oneDataset('insurance_plans', bad)
    assert.ok(readMapping(document, () => 'UTC').faults.length > 0)
    assert.ok(!fits.Check(document), JSON.stringify(bad))
  }
})

test('the guide explains every setting', () => {
  const groups = [
    topSettings,
    locationSettings,
    lookupSettings,
    formatSettings,
    recordSettings,
    ...Object.values(ruleSettings),
  ]
  const names = new Set(groups.flatMap((group) => Object.keys(group)))
  const missing = [...names].filter((name) => !new RegExp(`(?<!\\w)${RegExp.escape(name)}(?!\\w)`).test(guide))
  assert.deepEqual(missing, [])
})
