import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createTestDatabase, dropSchemas } from '../../platform/database/testing/test-database.ts'
import { startPooler } from '../../platform/database/testing/test-pooler.ts'
import { setForPooler } from '../../platform/database/testing/test-settings.ts'

async function runMain(env: Record<string, string>, ...args: string[]) {
  return await new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [join(import.meta.dirname, 'main.ts'), ...args],
      { env, timeout: 60_000 },
      (_, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
    )
  })
}

function someDataDir(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'bridgework-operator-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

test('the command line works on a server’s database with the settings of the server', async (t) => {
  const { url, serverUrl } = await createTestDatabase(t)
  const env = {
    DATABASE_URL: serverUrl,
    BRIDGEWORK_MIGRATION_DATABASE_URL: url,
    BRIDGEWORK_DATA_DIR: someDataDir(t),
    BRIDGEWORK_PUBLIC_URL: 'https://b.example',
  }
  const made = await runMain(env, 'organization', 'create', '--name', 'Smile Group', '--json')
  assert.equal(made.code, 0, made.err)
  const { id } = JSON.parse(made.out)
  const enrolled = await runMain(env, 'agent', 'enroll', '--organization', id)
  assert.equal(enrolled.code, 0, enrolled.err)
  assert.match(enrolled.out, /bridgework-agent enroll --server https:\/\/b\.example --code bwe_/)

  // Another data directory has another secret key: what it would make, the server could not verify.
  const foreign = await runMain(
    { ...env, BRIDGEWORK_DATA_DIR: someDataDir(t) },
    'agent',
    'enroll',
    '--organization',
    id,
  )
  assert.equal(foreign.code, 1)
  assert.match(foreign.err, /^The secret key is not the one [^\n]*\n$/)
})

test('behind a pooler of transactions the command line works on the direct address', async (t) => {
  const database = await createTestDatabase(t)
  await setForPooler(database)
  const env = {
    DATABASE_URL: await startPooler(t, database.serverUrl, { isFair: true }),
    BRIDGEWORK_DIRECT_DATABASE_URL: database.serverUrl,
    BRIDGEWORK_MIGRATION_DATABASE_URL: database.url,
    BRIDGEWORK_DATA_DIR: someDataDir(t),
  }
  const made = await runMain(env, 'organization', 'create', '--name', 'Smile Group', '--json')
  assert.equal(made.code, 0, made.err)
  // It needs the lock of a session.
  const rotated = await runMain(env, 'secret-key', 'rotate')
  assert.equal(rotated.code, 0, rotated.err)
  const { BRIDGEWORK_DIRECT_DATABASE_URL: _, ...pooled } = env
  const refused = await runMain(pooled, 'organization', 'list')
  assert.equal(refused.code, 1)
  assert.match(refused.err, /^A connection pooler [^\n]*BRIDGEWORK_DIRECT_DATABASE_URL[^\n]*\n$/)
})

test('where servers do not migrate, the command that migrates does, as the owner', async (t) => {
  const { url, serverUrl, ownerPool } = await createTestDatabase(t)
  await dropSchemas({ ownerPool })
  const env = { DATABASE_URL: serverUrl, BRIDGEWORK_MIGRATIONS: 'apart', BRIDGEWORK_DATA_DIR: someDataDir(t) }
  const refused = await runMain(env, 'database', 'migrate')
  assert.deepEqual(
    [refused.code, refused.err],
    [1, 'To migrate the database, set BRIDGEWORK_MIGRATION_DATABASE_URL.\n'],
  )
  const migrated = await runMain({ ...env, BRIDGEWORK_MIGRATION_DATABASE_URL: url }, 'database', 'migrate')
  assert.equal(migrated.code, 0, migrated.err)
  assert.match(migrated.out, /^The database is at migration \d+/)
  const listed = await runMain(env, 'organization', 'list')
  assert.equal(listed.code, 0, listed.err)
})

test('wrong settings are all told at once, with exit code 2, and a database that is away with exit code 1', async (t) => {
  const dataDir = someDataDir(t)
  const wrong = await runMain(
    { BRIDGEWORK_PORT: 'x', BRIDGEWORK_HOST: '!', BRIDGEWORK_DATA_DIR: dataDir },
    'company',
    'list',
  )
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /BRIDGEWORK_PORT.*\n.*BRIDGEWORK_HOST/)
  const away = await runMain(
    { DATABASE_URL: 'postgres://x@127.0.0.1:1/x', BRIDGEWORK_DATA_DIR: dataDir },
    'company',
    'list',
  )
  assert.equal(away.code, 1)
  assert.match(away.err, /^The database cannot be used: connect ECONNREFUSED [^\n]*\. Check that it runs[^\n]*\n$/)
})
