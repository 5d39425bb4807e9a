import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPooler } from '../platform/database/testing/test-pooler.ts'
import { someMachine } from '../platform/database/testing/test-replication.ts'
import { setForPooler } from '../platform/database/testing/test-settings.ts'
import { surviveOutage } from './testing/test-outage.ts'
import { findPgBouncer, pgBouncerMissing, startPgBouncer } from './testing/test-pgbouncer.ts'

const program = findPgBouncer(process.env)

if (program === null) {
  test('F41: where PgBouncer 1.21 is not installed, its trial did not run and says what to install', (t) => {
    // `npm run soak -- F41` must not pass without it.
    assert.notEqual(process.env.BRIDGEWORK_TEST_INSTRUMENT, 'pgbouncer', pgBouncerMissing)
    t.diagnostic(`NOT RUN: ${pgBouncerMissing}`)
    assert.equal(findPgBouncer({ BRIDGEWORK_TEST_PGBOUNCER: '/nonexistent' }), null)
  })
} else {
  test('F41: through PgBouncer with the guide’s file, with a restart of the database under load, nothing is lost and each read is on record', (t) =>
    throughPooler(t, (url) => startPgBouncer({ after }, program, url)))
}

if (process.env.BRIDGEWORK_TEST_INSTRUMENT !== 'pgbouncer') {
  test('F41: the same through a pooler of the test, which gives each transaction the session that was used the longest ago', (t) =>
    throughPooler(t, (url) => startPooler({ after }, url, { isFair: true })))
}

async function throughPooler(t: TestContext, start: (url: string) => Promise<string>) {
  const machine = await someMachine({ after })
  await surviveOutage(t, machine, {
    addressesOf: async (world, own) => {
      await setForPooler(world)
      return {
        ...own,
        serverUrl: await start(own.serverUrl),
        settings: { BRIDGEWORK_DIRECT_DATABASE_URL: own.serverUrl },
      }
    },
    strike: async () => {
      machine.kill()
      await sleep(500)
      await machine.start()
      return machine
    },
  })
}
