import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { since } from '../changes/cursor.ts'
import { openDentalConnector } from '../connector.ts'
import { testPractice } from '../testing/test-practice.ts'
import { adviceOnReplica, findingOnReplica } from './replica.ts'
import { openSession } from './session.ts'

const mariaDb = await startTestMariaDb({ after })
const practice = await testPractice(mariaDb)

async function replica() {
  const { database, replica } = await openSession(practice.settings)
  await database.end()
  return replica
}

test('whether the database is a replica is known to a user who may ask, and check says which it is', async () => {
  assert.deepEqual(await replica(), { is: 'unknown' })
  await mariaDb.execute(`grant replica monitor on *.* to ${practice.settings.user}@localhost`)
  assert.deepEqual(await replica(), { is: 'original' })
  await mariaDb.execute("change master to master_host = '127.0.0.1', master_user = 'nobody'")
  assert.deepEqual(await replica(), { is: 'stopped' })

  const { findings } = await openDentalConnector(practice.settings, 'UTC').check()
  assert.deepEqual(
    findings.filter(({ outcome }) => outcome !== 'good').map(({ what }) => what),
    [
      'The database is a replica that takes no changes over: its replication has stopped, so what the agent sends is out of date.',
    ],
  )
  // Said once, and again only after all was well.
  const connector = openDentalConnector(practice.settings, 'UTC')
  const advice: (string | null | undefined)[] = []
  for (const isReplica of [true, true, false, true]) {
    await mariaDb.execute(isReplica ? "change master to master_host = '127.0.0.1'" : 'reset slave all')
    const cycle = await connector.beginCycle()
    advice.push(cycle.advice?.())
    await cycle.end()
  }
  assert.deepEqual(
    advice.map((text) => text !== null),
    [true, false, false, true],
  )
  await mariaDb.execute('reset slave all')
})

test('a replica is worth a warning from five minutes on, and its lag is read again', () => {
  assert.equal(adviceOnReplica({ is: 'replica', behindSeconds: 300 }), null)
  assert.match(adviceOnReplica({ is: 'replica', behindSeconds: 3600 }) ?? '', /60 minutes behind/)
  assert.deepEqual(findingOnReplica({ is: 'replica', behindSeconds: 3 }), {
    outcome: 'good',
    what: 'The database is a replica, 3 s behind.',
    todo: null,
  })
  assert.equal(findingOnReplica({ is: 'original' }).what, 'The database is not a replica.')
  assert.deepEqual(findingOnReplica({ is: 'replica', behindSeconds: 3600 }), {
    outcome: 'advice',
    what: 'The database is a replica that is 60 minutes behind, so what the agent sends is at least as old.',
    todo: 'Ask who runs the database to repair the replication, or let the agent read the original.',
  })
  const cursor = {
    format: 4,
    nowUtc: '2026-11-20 12:00:00',
    databaseVersion: '',
    highest: {},
    locations: '',
    today: '',
    lookups: {},
  } as const
  assert.equal(since({ ...cursor, behindSeconds: 0 }), '2026-11-20 11:50:00')
  assert.equal(since({ ...cursor, behindSeconds: 3600 }), '2026-11-20 10:50:00')
})
