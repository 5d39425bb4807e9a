import assert from 'node:assert/strict'
import test from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { getDataset } from '@bridgework/contract'
import {
  createPractice,
  expectedLocations,
  expectedRecords,
  livingPractice,
  openDentalShape,
  todayIn,
  writeEvent,
  writePractice,
} from '@bridgework/practice-simulator'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import type { DatasetName, SourceCycle } from '../connector.ts'
import { served, testAgent } from '../demo/testing/test-agent.ts'
import { runCycle } from '../pipeline/cycle.ts'
import { startTestService } from '../testing/test-service.ts'
import { openDentalConnector } from './connector.ts'

test('the agent reads from an Open Dental database exactly what the practice holds, event after event', async (t) => {
  const mariadb = await startTestMariaDb(t)
  // What one event does is the same in each case: the others are about keys and places.
  const cases = [
    { keyStyle: 'sequential', variant: { clinics: 'on', headquarters: true }, single: 40, several: 20 },
    { keyStyle: 'random', variant: { clinics: 'on', headquarters: false }, single: 5, several: 20 },
    { keyStyle: 'sequential', variant: { clinics: 'off', headquarters: true }, single: 5, several: 20 },
  ] as const
  for (const { keyStyle, variant, single, several } of cases) {
    await t.test(
      `${keyStyle} keys, clinics ${variant.clinics}, ${variant.headquarters ? 'with' : 'without'} headquarters`,
      async (t) => {
        const database = await mariadb.createDatabase()
        const connection = await database.connect()
        const server = await startTestService(t)
        const living = livingPractice(createPractice(openDentalShape('read', { keyStyle })))
        await writePractice(connection, living.practice, variant)
        // Open Dental's today is the practice's: instalments fall due by it.
        const connector = openDentalConnector(
          database.settings,
          null,
          () => new Date(`${todayIn(living.practice)}T18:00:00Z`),
        )
        const agent = await testAgent(t, server, connector)
        await server.grantNotes()
        const zones = new Map<string, string>()
        if (variant.headquarters) {
          // Headquarters' address is invented and its clock is in no table: the agent stops until a person says it at Bridgework.
          assert.equal((await runCycle(agent)).result, 'failed')
          zones.set('0', living.practice.organization.timeZone)
          await server.setTimeZone(living.practice.organization.timeZone, '0')
        }
        const cycle = await connector.beginCycle({ organization: null, locations: zones })
        assert.deepEqual(await cycle.readLocations(), expectedLocations(living.practice, variant))
        await cycle.end()
        // Who may read notes of a location is known once it has been sent.
        await runCycle(agent)
        // One at a time, then several between two cycles: they must not hide each other.
        for (const events of [0, ...Array<number>(single).fill(1), ...Array<number>(several).fill(5)]) {
          const names: string[] = []
          for (let n = 0; n < events; n++) {
            const event = living.moveOn()
            names.push(event.name)
            await writeEvent(connection, living.practice, variant, event)
          }
          assert.equal((await runCycle(agent)).result, 'complete')
          const visible = await served(server)
          for (const [dataset, locations] of expectedRecords(living.practice, variant)) {
            for (const [location, records] of locations) {
              const when = `${dataset} of location ${location} after ${names.join(', ')}`
              assert.deepEqual(visible(dataset, location, records), records, when)
            }
          }
        }
      },
    )
  }
})

test('what Open Dental, or its version, is said not to have is null in every record', async (t) => {
  const mariadb = await startTestMariaDb(t)
  const database = await mariadb.createDatabase()
  await writePractice(await database.connect(), createPractice(openDentalShape('read')), variantWithClinics)
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

const variantWithClinics = { clinics: 'on', headquarters: false } as const

test('times are read by each clinic’s own clock, though the database server names only an abbreviation', async (t) => {
  const mariadb = await startTestMariaDb(t, { timeZone: 'America/Chicago' })
  const database = await mariadb.createDatabase()
  const practice = createPractice(openDentalShape('zones'))
  const variant = { clinics: 'on', headquarters: false } as const
  await writePractice(await database.connect(), practice, variant)
  const server = await startTestService(t)
  const connector = openDentalConnector(database.settings, null, () => new Date(`${todayIn(practice)}T18:00:00Z`))
  await server.grantNotes()
  const agent = await testAgent(t, server, connector)
  for (let cycle = 0; cycle < 2; cycle++) assert.equal((await runCycle(agent)).result, 'complete')
  const zones = new Map<string, Set<string>>()
  const visible = await served(server)
  for (const [location, records] of expectedRecords(practice, variant).get('appointments') ?? []) {
    for (const { attributes } of records) {
      const { starts_at, local_starts_at, time_zone } = attributes
      if (typeof starts_at !== 'string') continue
      const offset = (Date.parse(`${local_starts_at}Z`) - Date.parse(starts_at)) / 3_600_000
      zones.set(String(time_zone), (zones.get(String(time_zone)) ?? new Set()).add(String(offset)))
    }
    const sent = visible('appointments', location, records)
    assert.deepEqual(
      sent.filter((record, index) => !isDeepStrictEqual(record, records[index])).slice(0, 3),
      [],
      location,
    )
    assert.equal(sent.length, records.length)
  }
  // The practice has clinics in several zones, and visits in summer and in winter.
  assert.ok(zones.size > 1 && [...zones.values()].every((offsets) => offsets.size === 2), JSON.stringify([...zones]))
})
