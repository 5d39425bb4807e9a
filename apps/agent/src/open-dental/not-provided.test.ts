import assert from 'node:assert/strict'
import test from 'node:test'
import { getDataset } from '@bridgework/contract'
import { createPractice, openDentalShape, writePractice } from '@bridgework/practice-simulator'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import type { DatasetName, SourceCycle } from '../connector.ts'
import { openDentalConnector } from './connector.ts'

test('what Open Dental, or its version, is said not to have is null in every record', async (t) => {
  const mariadb = await startTestMariaDb(t)
  const database = await mariadb.createDatabase()
  await writePractice(await database.connect(), createPractice(openDentalShape('read')), {
    clinics: 'on',
    headquarters: false,
  })
  const connector = openDentalConnector(database.settings, 'America/Chicago')
  const notes = new Set(connector.datasets)
  const emptyIn = async (dataset: DatasetName, cycle: SourceCycle) => {
    const empty = new Set(Object.keys(getDataset(dataset).source.properties))
    const keys = [...(await cycle.listKeys(dataset)).values()].flat()
    for await (const chunk of cycle.readRecords(dataset, [...new Set(keys)])) {
      for (const { attributes } of [...chunk.values()].flat()) {
        for (const name of empty) if (Reflect.get(attributes, name) !== null) empty.delete(name)
      }
    }
    return [...empty]
  }
  const compare = async () => {
    const cycle = await connector.beginCycle(undefined, notes)
    const found = []
    for (const dataset of connector.datasets) {
      const lacking = cycle.notProvided?.(dataset) ?? []
      const empty = await emptyIn(dataset, cycle)
      assert.ok(
        lacking.every((attribute) => empty.includes(attribute)),
        `${dataset}: ${lacking}, of ${empty}`,
      )
      found.push(...lacking)
    }
    await cycle.end()
    return found
  }

  assert.deepEqual(await compare(), ['campaign'])
  await database.execute('alter table patient drop column Country, drop column PreferContactMethod')
  await database.execute('alter table appointment drop column SecDateTEntry')
  await database.execute('alter table procedurelog drop column Discount')
  assert.deepEqual(await compare(), ['country', 'preferred_contact_method', 'created_at', 'discount', 'campaign'])
})
