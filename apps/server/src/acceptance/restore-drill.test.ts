import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runAgentCommand, temporaryFolder, writeTestConfig } from '@bridgework/agent/test-agent'
import { testFamily } from '@bridgework/agent/test-family'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { Bridgework, sqliteStore } from '../../../../packages/client/src/index.ts'
import { grantAccess } from '../modules/consent/grant.ts'
import { createSecretKey } from '../modules/credentials/secret.ts'
import { ownerRole } from '../platform/database/embedded/cluster.ts'
import { copyTestDatabase } from '../platform/database/testing/test-database.ts'
import { someWorld } from '../testing/test-world.ts'
import { someProduction } from './testing/test-production.ts'

test('K34: after the database is lost and yesterday’s backup restored, the agent and the client bring the vendor’s copy to the present', async (t) => {
  const office = await testFamily(await startTestMariaDb({ after }))
  const secret = randomBytes(32)
  const world = await someWorld(t, { secretKey: createSecretKey(secret) })
  const organizationId = await world.addOrganization()
  const agent = await world.addAgent(organizationId)
  const vendor = await world.addVendor()
  const { companyId } = vendor
  await grantAccess(world.pool, { companyId, organizationId, locationIds: 'all', datasets: 'all', by: 'the practice' })

  // Agent and client are what people run; they keep their memory through all of this.
  const folder = temporaryFolder(t)
  const store = await sqliteStore(join(folder, 'copy.sqlite'))
  t.after(() => store.close())
  const catchUp = async ({ port }: { port: number }) => {
    const url = `http://127.0.0.1:${port}`
    const config = writeTestConfig(folder, { url, ...agent }, office.settings, { time_zone: 'UTC' })
    const { code, stdout, stderr } = await runAgentCommand(['run', '--once', '--config', config])
    assert.equal(code, 0, stdout + stderr)
    const client = new Bridgework({ baseUrl: url, clientId: vendor.clientId, clientSecret: vendor.clientSecret })
    const { failed } = await client.sync({ store })
    assert.deepEqual(failed, [])
    return client
  }
  const nameIn = async (client: Bridgework, sourceId: string) => {
    for (const { id: locationId } of await Array.fromAsync(client.locations.list())) {
      for await (const { attributes } of client.patients.list({ locationId })) {
        if (attributes.source_id === sourceId && !attributes.is_hidden) return attributes.first_name
      }
    }
    return null
  }

  const owner = Object.assign(new URL(world.serverUrl), { username: ownerRole })
  const lost = await someProduction(t, { database: { serverUrl: world.serverUrl, url: owner.href }, secret })
  const before = await lost.startProcess(preview)
  await catchUp(before)
  const backup = await copyTestDatabase(t, world)

  // What happens after the backup is lost with the database, and is still at the office and at the vendor.
  await office.update('patient', 'PatNum', 4, { FName: 'Doris' })
  await office.insert('patient', { PatNum: 71, LName: 'Late', FName: 'Lena', PatStatus: 0, ClinicNum: 1, PriProv: 1 })
  assert.equal(await nameIn(await catchUp(before), '71'), 'Lena')
  await before.kill('SIGKILL')

  const restored = await someProduction(t, { database: backup, secret })
  const done = await restored.startOperator('database', 'restored').ended
  assert.equal(done.code, 0, done.stderr)
  const now = await restored.startProcess(preview)
  const client = await catchUp(now)

  assert.deepEqual([await nameIn(client, '4'), await nameIn(client, '71')], ['Doris', 'Lena'])
  const found = await client.verify({ store, repair: false })
  const faults = found.map(({ missing, wrong, wrongRows }) => missing + wrong + wrongRows)
  assert.ok(found.length > 7 && faults.every((count) => count === 0), JSON.stringify(found))
  // What was new since the backup has another id now; its earlier one has left the copy.
  for (const { stray, serverDigest, storeDigest } of found) assert.deepEqual([stray, storeDigest], [0, serverDigest])
  const verified = await restored.startOperator('disclosure', 'verify').ended
  assert.equal(verified.code, 0, verified.stdout)
})

const preview = { BRIDGEWORK_PREVIEW_OPERATIONS: 'insurance_plans' }
