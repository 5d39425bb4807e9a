import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { vendorApiPath } from '@bridgework/contract'
import { portalApiPath } from '@bridgework/contract/portal'
import { createSecretKey } from '../modules/credentials/secret.ts'
import { serverRole } from '../platform/database/embedded/cluster.ts'
import { migrate } from '../platform/database/migrate.ts'
import { createTestDatabase, dropSchemas } from '../platform/database/testing/test-database.ts'
import { someWorld, type TestVendor } from '../testing/test-world.ts'
import { someInstallation } from './testing/test-installation.ts'
import { migrationsThrough, withNextVersion } from './testing/test-next-version.ts'
import { type Dump, type Known, listDumps, loadDump, readDump, withRows, writeDump } from './testing/test-upgrade.ts'
import { type Name, walk } from './testing/test-vendor-copy.ts'

test('what an installation of this version has is upgraded: every row stays, and people and programs go on', async (t) => {
  await upgrade(t, await someInstallation(t))
})

/** With the variable set, before a release: what that release makes is kept for the upgrades of later ones. */
if (process.env.BRIDGEWORK_TEST_UPDATE === '1') {
  test('the data that this version makes is kept', async (t) => writeDump(await someInstallation(t)))
}

for (const name of listDumps()) {
  test(`an installation of ${name.slice(0, 4)} is upgraded: every row stays, and people and programs go on`, async (t) => {
    await upgrade(t, readDump(name))
  })
}

/** To this version, and on to a next one. */
async function upgrade(t: TestContext, dump: Dump): Promise<void> {
  const database = await createTestDatabase(t)
  await dropSchemas(database)
  await migrate(database.url, { directory: migrationsThrough(t, dump.migration), serverRole, log: () => {} })
  await loadDump(database, dump)
  assert.deepEqual(await withRows(database, dump.tables), dump.tables)

  await migrate(database.url, { directory: withNextVersion(t), serverRole, log: () => {} })

  const { rows } = await database.pool.query('select next_note from record limit 1')
  assert.deepEqual(rows, [{ next_note: null }])
  assert.deepEqual(await withRows(database, dump.tables), dump.tables)
  await goOn(t, dump.known, database)
}

/** The vendor has what it had, and its next delta is empty; the agent's upload is known; the person is signed in. */
async function goOn(t: TestContext, known: Known, { pool }: Awaited<ReturnType<typeof createTestDatabase>>) {
  const world = await someWorld(t)
  const secretKey = createSecretKey(Buffer.from(known.secretKey, 'base64'))
  const { url } = await world.anotherServer({ pool, controlPool: pool, secretKey })
  const request = (path: string, init: RequestInit) => world.request(path, { on: url, ...init })
  const issued = await request(`${vendorApiPath}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: known.clientId, client_secret: known.clientSecret }),
  })
  assert.equal(issued.status, 200, issued.text)
  const headers = { authorization: `Bearer ${issued.body.token}` }
  const vendor = { get: (path: string) => request(`${vendorApiPath}${path}`, { headers }) } as TestVendor
  for (const [dataset, { data, watermark }] of Object.entries(known.lists)) {
    const now = await walk(vendor, known.locationId, dataset as Name, { items: 5000 })
    assert.deepEqual(now.data, data, dataset)
    const delta = await walk(vendor, known.locationId, dataset as Name, { since: watermark, items: 5000 })
    assert.deepEqual(delta.data, [], dataset)
  }

  const agent = { agentId: known.agentId as never, agentKey: known.agentKey }
  const upload = await request(`/ingest/v1/locations/${known.locationId}/patients/records`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${agent.agentKey}`,
      'content-type': 'application/x-ndjson',
      'idempotency-key': `${agent.agentId}-2000000`,
    },
    body: known.sent,
  })
  assert.deepEqual([upload.status, upload.body.unchanged], [200, 1], upload.text)

  // The dump grows old, and a session ends with its time: the person signed in and was seen a moment ago.
  await pool.query(
    `update portal_session set created_at = now(), updated_at = now(), expires_at = now() + interval '1 day'`,
  )
  const session = await request(`${portalApiPath}/session`, { headers: { cookie: known.cookie } })
  assert.equal((session.body.user as unknown as { email: string } | null)?.email, known.email, session.text)
}
