import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { vendorApiPath } from '@bridgework/contract'
import { ownerRole, serverRole } from '../platform/database/embedded/cluster.ts'
import { migrate } from '../platform/database/migrate.ts'
import { aPlan, someWorld } from '../testing/test-world.ts'
import { withNextVersion } from './testing/test-next-version.ts'

test('a service of two processes is upgraded one after the other, and no request fails', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 200 })
  const vendor = await world.addVendor([location])
  const authorization = `Bearer ${await vendor.token()}`
  const processes = new Set([await world.anotherServer(), await world.anotherServer()])
  const failed: string[] = []
  const asked: string[] = []
  const answers = { read: 0, uploaded: 0 }
  const load = startLoad(async (client, turn) => {
    // As a proxy does, which knows who is there.
    const { url } = [...processes][turn % processes.size] ?? assert.fail()
    asked[client] = url
    if (client === 0) {
      const records = { [`p${(turn % 200) + 1}`]: aPlan({ plan_name: `Plan ${turn}` }) }
      const body = Object.entries(records).map(([source_id, attributes]) => JSON.stringify({ source_id, attributes }))
      const answer = await world.request(`/ingest/v1/locations/${location.id}/insurance_plans/records`, {
        on: url,
        method: 'POST',
        headers: {
          authorization: `Bearer ${location.agent.agentKey}`,
          'content-type': 'application/x-ndjson',
          'idempotency-key': `${location.agent.agentId}-${2_000_000 + turn}`,
        },
        body: body.join('\n'),
      })
      if (answer.status !== 200) failed.push(answer.text)
      answers.uploaded += 1
    } else {
      const path = `${vendorApiPath}/locations/${location.id}/insurance_plans?items=100`
      const answer = await world.request(path, { on: url, headers: { authorization } })
      if (answer.status !== 200 || answer.body.data.length !== 100) failed.push(answer.text)
      answers.read += 1
    }
  })

  const someMore = async () => {
    const { read, uploaded } = { ...answers }
    while (answers.read < read + 5 || answers.uploaded < uploaded + 2) await sleep(5)
  }
  await someMore()
  await migrate(ownerUrlOf(world.serverUrl), { directory: withNextVersion(t), serverRole, log: () => {} })
  await someMore()
  for (const old of [...processes]) {
    processes.add(await world.anotherServer())
    processes.delete(old)
    // A proxy lets it answer what it was asked, for a connection may end as a request arrives.
    while (asked.includes(old.url)) await sleep(5)
    await old.app.close()
    await someMore()
  }
  await load.stop()

  assert.deepEqual(failed, [])
})

/** Some clients that ask for something all the time, until they are stopped. */
function startLoad(ask: (client: number, turn: number) => Promise<void>) {
  let isOver = false
  const clients = [0, 1, 2].map(async (client) => {
    for (let turn = 1; !isOver; turn += 1) await ask(client, turn)
  })
  return {
    stop: async () => {
      isOver = true
      await Promise.all(clients)
    },
  }
}

function ownerUrlOf(serverUrl: string): string {
  const url = new URL(serverUrl)
  url.username = ownerRole
  return url.href
}
