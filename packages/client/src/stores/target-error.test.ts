import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { superuserUrl } from '../../../../apps/server/src/platform/database/testing/test-database.ts'
import { openStore, someTarget } from '../sync/testing/test-mirror.ts'
import { someClient } from '../testing/test-client.ts'
import { TargetError } from './target-error.ts'

const run = promisify(execFile)

test('a SQLite file that cannot grow says so, and what to do; nothing of the page is kept', async (t) => {
  const { world, vendor } = await someClient(t, { insurancePlans: 2_000 })
  const file = await someTarget(t, 'sqlite')
  const program = `
    const { Bridgework } = await import(${JSON.stringify(import.meta.resolve('../bridgework.ts'))})
    const { sqliteStore } = await import(${JSON.stringify(import.meta.resolve('./sqlite/sqlite-store.ts'))})
    const { BASE: baseUrl, ID: clientId, SECRET: clientSecret } = process.env
    const store = await sqliteStore(${JSON.stringify(file)})
    await new Bridgework({ baseUrl, clientId, clientSecret }).sync({ store }).catch((error) => console.log(error.name, error.message))
    console.log((await store.positions()).some(({ dataset }) => dataset === 'insurance_plans'))`
  const env = { ...process.env, BASE: world.url, ID: vendor.clientId, SECRET: vendor.clientSecret }
  // No file may have more than 800 KiB: what a full disk does.
  const script = 'ulimit -f 1600 && exec "$0" --input-type=module -e "$1"'
  const { stdout } = await run('sh', ['-c', script, process.execPath, program], { env })

  const [said = '', isKept] = stdout.trim().split('\n')
  assert.ok(said.startsWith(`TargetError ${file}: `), said)
  assert.match(said, /could not be written.*Check the disk/)
  assert.doesNotMatch(said, /rollback/)
  assert.equal(isKept, 'false')
})

test('a store that cannot be opened names its target and the cure, and no password', async (t) => {
  const folder = await someTarget(t, 'ndjson')
  const file = join(folder, 'file')
  writeFileSync(file, 'something else, long enough to be taken for the header of a database')
  const unknown = Object.assign(new URL(await someTarget(t, 'postgres')), { pathname: '/none' })
  for (const [kind, target, message] of [
    ['sqlite', file, /file: .*is not a SQLite database\. Use another file/],
    ['sqlite', join(folder, 'none/copy.sqlite'), /none\/copy\.sqlite: .*folder does not exist\. Create it/],
    ['ndjson', file, /file: .*is a file, and not a folder\. /],
    [
      'postgres',
      'postgres://me:top-secret@127.0.0.1:1/copy',
      /^postgres:\/\/.*:1\/.*: .*cannot be reached\. Check the host/,
    ],
    ['postgres', String(unknown), /\/none: .*database does not exist\. Create it/],
  ] as const) {
    await assert.rejects(openStore(kind, target), (error: Error) => {
      assert.ok(error instanceof TargetError, `${kind} ${target}: ${error}`)
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /top-secret/)
      return true
    })
  }
})

test('a PostgreSQL database of another encoding than UTF8 is refused, and nothing is made in it', async (t) => {
  const admin = new pg.Client({ connectionString: superuserUrl('postgres') })
  await admin.connect()
  t.after(() => admin.end())
  const name = `${process.env.BRIDGEWORK_TEST_DATABASE_PREFIX ?? 'test_'}latin`
  await admin.query(`create database ${name} encoding 'LATIN1' locale 'C' template template0`)
  const latin = superuserUrl(name)
  try {
    await assert.rejects(openStore('postgres', latin), (error: Error) => {
      assert.ok(error instanceof TargetError)
      assert.match(error.message, /encoding of this database is LATIN1, and a mirror needs UTF8\. Create another one/)
      return true
    })
    const inLatin = new pg.Client({ connectionString: latin })
    await inLatin.connect()
    const { rows } = await inLatin.query(`select from pg_namespace where nspname = 'bridgework'`)
    await inLatin.end()
    assert.equal(rows.length, 0)
  } finally {
    await admin.query(`drop database ${name} with (force)`)
  }
})

test('a folder that may not be written says so', async (t) => {
  const folder = join(await someTarget(t, 'ndjson'), 'locked')
  mkdirSync(folder)
  chmodSync(folder, 0o500)
  // Root may write everywhere: another user tries it, who may not be able to read our sources.
  const program = `
    const { ndjsonStore } = await import(${JSON.stringify(import.meta.resolve('./ndjson-store.ts'))})
    if (process.getuid() === 0) process.setuid(65534)
    await ndjsonStore(${JSON.stringify(join(folder, 'copy'))}).catch((error) => console.log(error.message))`
  chmodSync(join(folder, '..'), 0o755)
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
  assert.match(stdout, /copy: It may not be written or read by this user\. Give this user access/)
})
