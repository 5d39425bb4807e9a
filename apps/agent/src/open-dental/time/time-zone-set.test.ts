import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import type { AgentEvent } from '../../agent-event.ts'
import { openDentalConnector } from '../connector.ts'
import { testCopy } from '../testing/test-copy.ts'
import { testFamily } from '../testing/test-family.ts'

const mariaDb = await startTestMariaDb({ after }, { timeZone: 'America/Chicago' })
const now = () => new Date('2026-11-20T12:00:00Z')

describe('the time zone of a location', () => {
  test('a time zone that is set at Bridgework is used at the next contact, and what it touches is sent once', async (t) => {
    const practice = await testFamily(mariaDb)
    await practice.execute("update procedurelog set SecDateEntry = '2026-07-01 09:30:00' where ProcNum = 1")
    await practice.ageAll()
    const copy = await testCopy({ after: (work) => t.after(work) }, practice.settings, { now, timeZone: null })
    await copy.setTimeZone('America/Chicago')
    await copy.run()
    const visit = () => copy.visible('1', 'appointments').get('2')
    const charge = () => copy.visible('1', 'ledger_transactions').get('proc:1')
    assert.deepEqual([visit()?.starts_at, visit()?.time_zone], ['2026-12-01T16:00:00.000Z', 'America/Chicago'])
    assert.equal(charge()?.entered_at, '2026-07-01T14:30:00.000Z')
    assert.deepEqual(uploads(await copy.run()), {})

    // Only the north: the south keeps the organization's.
    await copy.setTimeZone('America/New_York', '1')
    const southern = JSON.stringify([...copy.visible('2', 'appointments')])
    const events = await copy.run()
    assert.deepEqual(uploads(events), { appointments: 4, ledger_transactions: 1 })
    assert.deepEqual(
      [visit()?.starts_at, visit()?.local_starts_at],
      ['2026-12-01T15:00:00.000Z', '2026-12-01T10:00:00'],
    )
    assert.equal(charge()?.entered_at, '2026-07-01T13:30:00.000Z')
    assert.equal(JSON.stringify([...copy.visible('2', 'appointments')]), southern)
    assert.deepEqual(uploads(await copy.run()), {})
  })

  test('without a zone the agent sends its locations and nothing else, and says what to set', async (t) => {
    const practice = await testFamily(mariaDb)
    await practice.setPreference('PracticeZip', '97914')
    const copy = await testCopy({ after: (work) => t.after(work) }, practice.settings, { now, timeZone: null })
    await assert.rejects(
      copy.run(),
      /time_zone_unknown.*The time zone of Harbor Dental, North, South is not known.*Set it at Bridgework/,
    )
    assert.deepEqual(
      copy.server.requests.map(({ path }) => path.split('/').at(-1)),
      ['heartbeats', 'locations', 'heartbeats'],
    )
    // Per clinic, where the organization has no zone of its own.
    const zones = { '0': 'America/Boise', '1': 'America/Boise', '2': 'America/Los_Angeles' }
    for (const [location, zone] of Object.entries(zones)) await copy.setTimeZone(zone, location)
    await copy.run()
    assert.equal(copy.visible('1', 'appointments').get('2')?.time_zone, 'America/Boise')
    assert.equal(copy.visible('2', 'appointments').get('3')?.time_zone, 'America/Los_Angeles')
  })

  test('a clinic in another city of which nothing more is known, and an ambiguous postal code, tell no zone', async () => {
    const practice = await testFamily(mariaDb)
    await practice.update('clinic', 'ClinicNum', 1, { City: 'Boise', State: 'ID' })
    await practice.update('clinic', 'ClinicNum', 2, { Zip: '97914' })
    const cycle = await openDentalConnector(practice.settings, null, now).beginCycle()
    const zones = (await cycle.readLocations()).map((location) => location.time_zone)
    await cycle.end()
    assert.deepEqual(zones, ['America/Los_Angeles', null, null])
  })

  test('check shows each zone, where it comes from, and a winter’s and a summer’s appointment', async () => {
    const practice = await testFamily(mariaDb)
    await practice.execute(
      `update clinic set Zip = '60601' where ClinicNum = 1; update clinic set Zip = '47501' where ClinicNum = 2;
     insert into appointment (AptNum, AptStatus, ClinicNum, AptDateTime) values (70, 1, 1, '2026-01-15 09:00:00'), (71, 1, 1, '2026-07-15 09:00:00')`,
    )
    const { findings } = await openDentalConnector(practice.settings, null, now).check()
    const [north, south] = findings.slice(-2)
    assert.equal(
      north?.what,
      'The time zone of North is America/Chicago, from the postal code 60601. Appointments: 2026-01-15T09:00:00-06:00 (2026-01-15T15:00:00.000Z), 2026-07-15T09:00:00-05:00 (2026-07-15T14:00:00.000Z).',
    )
    assert.match(
      south?.what ?? '',
      /^The time zone of South is not known\. The database server says only "C[SD]T", and the postal code 47501/,
    )
    assert.deepEqual([north?.outcome, south?.outcome], ['good', 'wrong'])

    await practice.execute('delete from appointment where ClinicNum = 1')
    const without = (await openDentalConnector(practice.settings, null, now).check()).findings.at(-2)
    assert.equal(
      without?.what,
      'The time zone of North is America/Chicago, from the postal code 60601. There is no appointment in January or July to show.',
    )
  })
})

/** Records sent, by dataset. */
function uploads(events: readonly AgentEvent[]): Record<string, number> {
  return Object.fromEntries(
    events.flatMap((event) =>
      event.event === 'dataset.finished' && event.uploaded > 0 ? [[event.dataset, event.uploaded]] : [],
    ),
  )
}
