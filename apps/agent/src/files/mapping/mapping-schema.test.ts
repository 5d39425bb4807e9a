import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
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
  type SourceKind,
  settingsOf,
  topSettings,
} from './mapping-schema.ts'

const guide = readFileSync(new URL('../../../../../docs/guides/export-files.md', import.meta.url), 'utf8')
const sqlGuide = readFileSync(new URL('../../../../../docs/guides/sql-databases.md', import.meta.url), 'utf8')
const fits = Compile(mappingSchema())
const folder = (kind: SourceKind) => new URL(`../../../examples/${kind}/`, import.meta.url)

for (const kind of ['files', 'sql'] as const) {
  test(`examples/${kind}/mapping.schema.json is what the code says`, () => {
    const text = JSON.stringify(mappingSchema(kind))
    const file = new URL('mapping.schema.json', folder(kind))
    if (process.env.BRIDGEWORK_TEST_UPDATE === '1') writeFileSync(file, text)
    assert.deepEqual(
      JSON.parse(readFileSync(file, 'utf8')),
      JSON.parse(text),
      'after a change of a setting: BRIDGEWORK_TEST_UPDATE=1 npm test -- apps/agent/src/files/mapping/mapping-schema.test.ts && npm run format',
    )
  })
}

test('the example of a database is one that the agent and the schema take', () => {
  const document = parse(readFileSync(new URL('mapping.toml', folder('sql')), 'utf8'))
  assert.deepEqual(readMapping(document, () => 'UTC', 'sql').faults, [])
  const checked = Compile(mappingSchema('sql'))
  assert.ok(checked.Check(document), JSON.stringify(checked.Errors(document)))
  assert.ok(!fits.Check(document))
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
  const { top, table } = settingsOf('sql')
  const own = Object.keys({ ...top, ...table }).filter((name) => !names.has(name))
  assert.deepEqual(own.toSorted(), ['changed', 'keys', 'order', 'quiet', 'read_every_minutes', 'select'])
  for (const name of own) assert.ok(sqlGuide.includes(`\`${name}\``), name)
})
