import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPooler } from '../platform/database/testing/test-pooler.ts'
import { someReplication } from '../platform/database/testing/test-replication.ts'
import { setForPooler } from '../platform/database/testing/test-settings.ts'
import { surviveOutage } from './testing/test-outage.ts'

for (const [death, how, hasPoolers] of [
  ['kill', 'is killed', false],
  ['silence', 'falls silent', false],
  ['kill', 'is killed behind a pooler of transactions', true],
] as const) {
  test(`F42: a standby that takes over from a primary that ${how} under load has all that was acknowledged, and each read is on record`, async (t) => {
    const { primary, standby, withBoth, promote } = await someReplication({ after })
    await surviveOutage(t, primary, {
      addressesOf: async (world, { serverUrl, url }) => {
        const both = { serverUrl: withBoth(serverUrl), url: withBoth(url) }
        if (!hasPoolers) return { ...both, settings: {} }
        await setForPooler(world)
        const places = []
        for (const { port } of [primary, standby]) {
          const own = Object.assign(new URL(serverUrl), { port: String(port) })
          places.push(new URL(await startPooler({ after }, own.href)).host)
        }
        return {
          ...both,
          serverUrl: serverUrl.replace(new URL(serverUrl).host, places.join()),
          settings: { BRIDGEWORK_DIRECT_DATABASE_URL: both.serverUrl },
        }
      },
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
