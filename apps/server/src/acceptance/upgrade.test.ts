import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { datasetNames, getDataset, sourceAt, vendorApiPath } from '@bridgework/contract'
import { portalApiPath } from '@bridgework/contract/portal'
import { somePortal } from '../apis/portal/testing/test-portal.ts'
import { createSecretKey } from '../modules/credentials/secret.ts'
import { fillTenants } from '../modules/leaving/testing/test-filled-tenant.ts'
import { passwordHash } from '../modules/sign-in/password/password-hash.ts'
import { serverRole } from '../platform/database/embedded/cluster.ts'
import { migrate } from '../platform/database/migrate.ts'
import { createTestDatabase } from '../platform/database/testing/test-database.ts'
import { migrationsThrough } from '../platform/database/testing/test-migrations.ts'
import { aRecord, someWorld, type TestVendor } from '../testing/test-world.ts'
import {
  type Dump,
  dumpOf,
  type Known,
  listDumps,
  loadDump,
  readDump,
  withRows,
  writeDump,
} from './testing/test-upgrade.ts'
import { type Name, walk } from './testing/test-vendor-copy.ts'

if (process.env.BRIDGEWORK_TEST_UPDATE === '1') {
  test('the data that this version makes is kept for the upgrade of later ones', async (t) => {
    writeDump(await someInstallation(t))
  })
}

for (const name of listDumps()) {
  test(`an installation of ${name.slice(0, 4)} is upgraded: every row stays, and people and programs go on`, async (t) => {
    const dump = readDump(name)
    const database = await createTestDatabase(t)
    await database.ownerPool.query('drop schema public, monthly cascade; create schema public')
    const directory = migrationsThrough(t, dump.migration.slice('0000_'.length))
    await migrate(database.url, { directory, serverRole, log: () => {} })
    await loadDump(database, dump)
    assert.deepEqual(await withRows(database, dump.tables), dump.tables)

    await migrate(database.url, { serverRole, log: () => {} })

    const upgraded = withNewNames(dump.tables)
    assert.deepEqual(await withRows(database, upgraded), upgraded)
    await goOn(t, dump.known, database)
  })
}

/** Columns that a later migration gave another name, so that a process of the version before does not misread them. */
const renamed = new Map([
  ['upload.unchanged_source_ids', 'unchanged_keys'],
  ['audit_event.subject', 'facts'],
])

/** Values that a later migration writes in another way: records without a start are counted below every week; sentences of acts are JSON. */
const rewritten = new Map<string, (value: string | null) => string | null>([
  ['record_count.starts_week', (value) => (value === '-1' ? '-2147483648' : value)],
  ['audit_event.subject', (value) => JSON.stringify(value)],
])

function withNewNames(tables: Dump['tables']): Dump['tables'] {
  return tables.map(({ name, columns, rows }) => ({
    name,
    columns: columns.map((column) => renamed.get(`${name}.${column}`) ?? column),
    rows: rows.map((row) =>
      row.map((value, index) => (rewritten.get(`${name}.${columns[index]}`) ?? ((same) => same))(value)),
    ),
  }))
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
    body: JSON.stringify({ source_id: '1', attributes: sourceAt(getDataset('patients'), 1)(aRecord('patients')) }),
  })
  assert.deepEqual([upload.status, upload.body.unchanged], [200, 1], upload.text)

  // The dump grows old, and a session ends with its time: the person signed in and was seen a moment ago.
  await pool.query(
    `update portal_session set created_at = now(), updated_at = now(), expires_at = now() + interval '1 day'`,
  )
  const session = await request(`${portalApiPath}/session`, { headers: { cookie: known.cookie } })
  assert.equal((session.body.user as unknown as { email: string } | null)?.email, known.email, session.text)
}

/** A practice and a vendor that reads it, with a row in every table that can have one, a key pair, an agent and a session. */
async function someInstallation(t: TestContext): Promise<Dump> {
  const secretKey = randomBytes(32).toString('base64')
  const world = await somePortal(t, { secretKey: createSecretKey(Buffer.from(secretKey, 'base64')), passwordHash })
  const vendor = await world.addVendor()
  const { location } = await fillTenants(world, vendor)
  const { person, cookie } = await world.signInAs({ organizationId: location.organizationId }, 'owner')
  const lists: Known['lists'] = {}
  for (const name of datasetNames) lists[name] = await walk(vendor, location.id, name as Name, { items: 5000 })
  await world.usage.flush()
  return dumpOf(world, {
    secretKey,
    clientId: vendor.clientId,
    clientSecret: vendor.clientSecret,
    agentKey: location.agent.agentKey,
    agentId: location.agent.agentId,
    locationId: location.id,
    cookie,
    email: person.email,
    lists,
  })
}
