import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { someReplication } from '../platform/database/testing/test-replication.ts'
import { surviveOutage } from './testing/test-outage.ts'

for (const [death, how] of [
  ['kill', 'is killed'],
  ['silence', 'falls silent'],
] as const) {
  test(`F42: a standby that takes over from a primary that ${how} under load has all that was acknowledged, and each read is on record`, async (t) => {
    const { primary, standby, withBoth, promote } = await someReplication({ after })
    await surviveOutage(t, primary, {
      addressesOf: async (_, own) => ({ serverUrl: withBoth(own.serverUrl), url: withBoth(own.url), settings: {} }),
      strike: async () => {
        primary[death]()
        // As long as a program that watches both may take to be sure.
        await sleep(1_000)
        await promote()
        return standby
      },
    })
  })
}
