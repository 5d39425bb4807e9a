import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import pg from 'pg'
import { regenerateKeyPair } from '../modules/credentials/key-pair.ts'
import { createSecretKey } from '../modules/credentials/secret.ts'
import { verifyKeyPair } from '../modules/credentials/verify-key-pair.ts'
import { getOwner } from '../modules/membership/member.ts'
import { DatabaseStartError } from '../platform/database/start-error.ts'
import { createTestDatabase, superuserUrl } from '../platform/database/testing/test-database.ts'
import { localUrl, setUpDemo } from './sandbox.ts'
import { readSandboxFile, writeSandboxFile } from './sandbox-file.ts'

async function someSandbox(t: TestContext) {
  const { pool, serverUrl } = await createTestDatabase(t)
  const secretKey = createSecretKey(randomBytes(32))
  const start = (dataDir: string) =>
    setUpDemo({
      pool,
      secretKey,
      config: {
        dataDir,
        database: { kind: 'server', url: serverUrl, directUrl: null, migrationUrl: null, migrations: 'at_start' },
        publicUrl: 'http://localhost',
      },
      signal: new AbortController().signal,
    })
  const someDataDir = () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'bridgework-test-'))
    t.after(() => rmSync(dataDir, { recursive: true }))
    return dataDir
  }
  return { pool, secretKey, start, someDataDir, database: new URL(serverUrl).pathname.slice(1) }
}

test('the demo is set up whole though the database ends every session in between', async (t) => {
  const sandbox = await someSandbox(t)
  const admin = new pg.Client({ connectionString: superuserUrl('postgres') })
  await admin.connect()
  t.after(() => admin.end())
  const beganAtMs = performance.now()
  const ending = (async () => {
    let ended = 0
    while (performance.now() - beganAtMs < 1_500) {
      const { rowCount } = await admin.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
        [sandbox.database],
      )
      ended += rowCount ?? 0
    }
    return ended
  })()

  const { demo, signIns } = await sandbox.start(sandbox.someDataDir())

  assert.ok((await ending) > 0)
  const verdict = await verifyKeyPair(sandbox.pool, sandbox.secretKey, demo.clientId, demo.clientSecret ?? '')
  assert.ok('companyId' in verdict)
  assert.equal(signIns.length, 7)
})

test('a second sandbox on one database is refused, and the first one’s key pair stays', async (t) => {
  const { start, someDataDir, pool, secretKey } = await someSandbox(t)
  const [first, second] = [someDataDir(), someDataDir()]
  const { demo } = await start(first)
  const { clientId, clientSecret } = demo
  assert.ok(clientSecret !== null)

  await assert.rejects(start(second), (error: unknown) => {
    assert.ok(error instanceof DatabaseStartError)
    assert.match(
      error.message,
      /belongs to another data directory, and \S+ does not have its credentials\. Use that data directory/,
    )
    return true
  })

  assert.ok('companyId' in (await verifyKeyPair(pool, secretKey, clientId, clientSecret)))
  assert.equal((await start(first)).demo.clientId, clientId)
})

test('a key pair that was regenerated in the portal stays through restarts, and its secret may be put into the file', async (t) => {
  const { start, someDataDir, pool, secretKey } = await someSandbox(t)
  const dataDir = someDataDir()
  const { demo } = await start(dataDir)
  const { id: memberId } = await getOwner(pool, demo.companyId)
  const own = await regenerateKeyPair(pool, secretKey, { companyId: demo.companyId, memberId })
  for (let restarts = 0; restarts < 2; restarts += 1) {
    const again = (await start(dataDir)).demo
    assert.deepEqual([again.clientId, again.clientSecret], [own.clientId, null])
    assert.ok('companyId' in (await verifyKeyPair(pool, secretKey, own.clientId, own.clientSecret)))
  }
  writeSandboxFile(dataDir, { ...readSandboxFile(dataDir), client_secret: own.clientSecret })
  assert.equal((await start(dataDir)).demo.clientSecret, own.clientSecret)
})

test('the demo practice’s feeder reaches the server at whatever address it listens', () => {
  const urls = {
    '127.0.0.1': 'http://127.0.0.1:8080',
    '127.0.0.2': 'http://127.0.0.2:8080',
    '0.0.0.0': 'http://127.0.0.1:8080',
    '10.0.0.7': 'http://10.0.0.7:8080',
    '::': 'http://[::1]:8080',
    '::1': 'http://[::1]:8080',
    'fd00::7': 'http://[fd00::7]:8080',
  }
  for (const [address, url] of Object.entries(urls)) {
    assert.equal(localUrl({ address, port: 8080, family: 'any' }), url)
  }
})
