import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  createPractice,
  expectedLocations,
  expectedRecords,
  livingPractice,
  type OpenDentalVariant,
  openDentalShape,
  type Practice,
  type Truth,
  writeEvent,
  writePractice,
} from '@bridgework/practice-simulator'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { assignTimeZone } from '../modules/directory/location.ts'
import { keptRecords, type Present } from './testing/test-kept-records.ts'
import { someOffice } from './testing/test-office.ts'
import { eachName, type View, vendorCopy } from './testing/test-vendor-copy.ts'

// Its clock goes by an abbreviation, "CST", which does not tell where the practice is.
const mariaDb = await startTestMariaDb({ after }, { timeZone: 'America/Chicago' })

// What one event does is the same in each office: the others are about keys and places. Of several between two reads none may hide another.
const offices: { keyStyle: 'sequential' | 'random'; variant: OpenDentalVariant; single: number; several: number }[] = [
  { keyStyle: 'sequential', variant: { clinics: 'on', headquarters: true }, single: 40, several: 20 },
  { keyStyle: 'random', variant: { clinics: 'on', headquarters: false }, single: 5, several: 20 },
  { keyStyle: 'random', variant: { clinics: 'off', headquarters: true }, single: 5, several: 20 },
]

for (const { keyStyle, variant, single, several } of offices) {
  const name = `clinics ${variant.clinics}, ${variant.headquarters ? 'a' : 'no'} headquarters, ${keyStyle} keys`
  test(`K19: a practice reaches a vendor exactly, and each event of its life: ${name}`, async (t) => {
    const seed = String(Date.now())
    t.diagnostic(`seed ${seed}`)
    const database = await mariaDb.createDatabase()
    const connection = await database.connect()
    const living = livingPractice(createPractice(openDentalShape(seed, { keyStyle })))
    await writePractice(connection, living.practice, variant)
    const office = await someOffice(t, database)
    // Open Dental's today is the practice's: instalments fall due and insurance ends by it.
    const agent = office.agentHere(() => new Date(`${nowIn(living.practice).slice(0, 10)}T18:00:00Z`))
    if (variant.headquarters) {
      // Its address is invented and its clock is in no table: the agent stops until a person sets the zone.
      assert.equal((await agent.cycle()).result, 'failed')
      const headquarters = (await office.locationIds()).get('0') ?? assert.fail()
      await assignTimeZone(office.world.pool, headquarters, living.practice.organization.timeZone)
    }
    // Who may read notes of a location is known once it has been sent.
    for (let cycle = 0; cycle < 2; cycle++) assert.equal((await agent.cycle()).result, 'complete')

    const ids = await office.locationIds()
    const locations = expectedLocations(living.practice, variant)
    assert.deepEqual([...ids.keys()].sort(), locations.map((location) => location.source_id).sort())
    const served = new Map((await office.vendor.get('/locations')).body.data.map((each) => [each.id, each.attributes]))
    for (const { source_id, ...location } of locations) {
      const { organization_id, attribution_script, sync, datasets_granted, created_at, updated_at, ...own } =
        served.get(ids.get(source_id) ?? '') ?? assert.fail()
      assert.deepEqual(own, location)
    }

    const places = [...ids].map(([sourceId, id]) => ({
      sourceId,
      id,
      copy: vendorCopy(office.vendor, id),
      kept: keptRecords(),
    }))
    const steps = [0, ...Array<number>(single).fill(1), ...Array<number>(several).fill(5)]
    let seen = 0
    for (const [n, events] of steps.entries()) {
      const names: string[] = []
      for (let left = events; left > 0; left--) {
        const event = living.moveOn()
        names.push(event.name)
        await writeEvent(connection, living.practice, variant, event)
      }
      if (n > 0) assert.equal((await agent.cycle()).result, 'complete')
      const truth = expectedRecords(living.practice, variant)
      let changed = 0
      for (const { sourceId, copy, kept } of places) {
        const expected = kept.take(presentAt(truth, sourceId))
        assert.deepEqual(await copy.sync(), expected, `step ${n}, ${names}, at location ${sourceId}`)
        assert.deepEqual(copy.view(), kept.view())
        changed += Object.values(expected).flat().length
      }
      if (n > 0) seen += changed > 0 ? 1 : 0
      else {
        assert.ok(
          places.some(({ copy }) => Object.values(copy.view()).every(isFull)),
          'a dataset is empty',
        )
        checkClocks(
          places.map(({ copy }) => copy.view()),
          variant,
        )
      }
    }
    // A carrier that no plan names may be renamed now and then: no record changes.
    assert.ok(seen > steps.length / 2, `only ${seen} steps were seen`)

    for (const { id, copy } of places) {
      const whole = vendorCopy(office.vendor, id, { items: 5000 })
      await whole.sync()
      assert.deepEqual(copy.served(), whole.served())
    }
  })
}

/** The wall time of the practice. */
function nowIn({ clock }: Practice): string {
  return clock.get('1')?.now ?? assert.fail()
}

/** Where there are clinics they are in several zones, each with visits in summer and in winter. */
function checkClocks(views: readonly View[], { clinics }: OpenDentalVariant): void {
  const offsets = new Map<string, Set<number>>()
  for (const visit of views.flatMap((view) => Object.values(view.appointments))) {
    const { starts_at, local_starts_at, time_zone } = visit as Record<string, string | null>
    if (starts_at === null) continue
    const offset = Date.parse(`${local_starts_at}Z`) - Date.parse(String(starts_at))
    offsets.set(String(time_zone), (offsets.get(String(time_zone)) ?? new Set()).add(offset))
  }
  const inAYear = [...offsets.values()].map(({ size }) => size)
  assert.deepEqual(inAYear, Array(clinics === 'on' ? 2 : 1).fill(2), JSON.stringify([...offsets.keys()]))
}

function presentAt(truth: Truth, location: string): Present {
  return eachName((name) => truth.get(name)?.get(location) ?? [])
}

function isFull(records: object): boolean {
  return Object.keys(records).length > 0
}
