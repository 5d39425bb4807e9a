import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { connectEmbedded, startEmbeddedPostgres } from './embedded-postgres.ts'
import { clusterOf, kill, query, startAlone, startIn, testFolder } from './testing/test-data-dir.ts'

const log = () => {}

test('a new cluster is UTF-8 whatever the machine, checks its pages, keeps what it acknowledged and listens on no port', async (t) => {
  const { adminUrl } = await startIn(testFolder(t))

  const rows = await query<{ name: string; setting: string }>(
    adminUrl,
    `select name, setting from pg_settings
      where name in ('server_encoding', 'data_checksums', 'synchronous_commit', 'fsync', 'full_page_writes', 'listen_addresses',
                     'password_encryption', 'log_min_messages', 'log_min_error_statement', 'log_error_verbosity', 'unix_socket_permissions')`,
  )
  assert.deepEqual(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), {
    server_encoding: 'UTF8',
    data_checksums: 'on',
    synchronous_commit: 'on',
    fsync: 'on',
    full_page_writes: 'on',
    listen_addresses: '',
    password_encryption: 'scram-sha-256',
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    unix_socket_permissions: '0700',
  })
  const [database] = await query(
    adminUrl,
    `select datlocprovider, datlocale, datcollate, pg_encoding_to_char(encoding) as encoding
       from pg_database where datname = current_database()`,
  )
  assert.deepEqual(database, { datlocprovider: 'b', datlocale: 'C.UTF-8', datcollate: 'C', encoding: 'UTF8' })
})

test('passwords are in one file that nobody else reads, every way in asks for one, and only the owner may change the schema', async (t) => {
  const folder = testFolder(t)
  const { ownerUrl, serverUrl } = await startIn(folder)

  const home = join(clusterOf(folder), '..')
  assert.deepEqual(readdirSync(home).sort(), ['credentials.json', 'data', 'socket'])
  assert.equal(statSync(join(home, 'credentials.json')).mode & 0o777, 0o600)
  for (const directory of [home, join(home, 'data'), join(home, 'socket')]) {
    assert.equal(statSync(directory).mode & 0o777, 0o700, directory)
  }
  for (const file of ['postgres.log', 'server.lock', 'server.lock.json']) {
    assert.equal(statSync(join(folder.dataDir, file)).mode & 0o777, 0o600, file)
  }
  const ways = readFileSync(join(home, 'data/pg_hba.conf'), 'utf8').match(/^(local|host).*$/gm) ?? []
  assert.ok(ways.length > 0 && ways.every((way) => way.endsWith('scram-sha-256')), ways.join('\n'))
  const wrong = new URL(ownerUrl)
  wrong.password = 'wrong'
  await assert.rejects(query(wrong.href, 'select 1'), { code: '28P01' })
  const roles = await query(ownerUrl, `select rolname from pg_roles where rolsuper and rolname like 'bridgework%'`)
  assert.deepEqual(roles, [])
  await query(ownerUrl, 'create table mine (id bigint)')
  await assert.rejects(query(serverUrl, 'create table mine_too (id bigint)'), { code: '42501' })
})

test('what was written is there after a stop and a start', async (t) => {
  const folder = testFolder(t)
  const first = await startEmbeddedPostgres({ ...folder, log })
  await query(first.ownerUrl, 'create table note as select 7 as n')
  await first.stop()
  await first.stop()
  await assert.rejects(query(first.ownerUrl, 'select 1'))

  const second = await startIn(folder)

  assert.deepEqual(await query(second.ownerUrl, 'select n from note'), [{ n: 7 }])
})

test('a stop does not wait for a session that does nothing, or for one that never ends', async (t) => {
  const folder = testFolder(t)
  const database = await startEmbeddedPostgres({ ...folder, log })
  const endless = assert.rejects(query(database.ownerUrl, 'select pg_sleep(600)'))
  const startedAt = performance.now()

  await database.stop()

  assert.ok(performance.now() - startedAt < 10_000)
  await endless
})

test('a data directory with a path longer than a socket may have works, and leaves no folder behind', async (t) => {
  const long = testFolder(t, join('a'.repeat(80), 'b'.repeat(80), 'with a space, and "quotes"'))
  // Root may have to put the cluster elsewhere: make that long as well.
  const folder = { ...long, copyRoot: join(long.copyRoot, 'c'.repeat(80)) }
  const database = await startEmbeddedPostgres({ ...folder, log })

  assert.deepEqual(await query(database.serverUrl, 'select 1 as n'), [{ n: 1 }])
  const socketDir = new URL(database.ownerUrl).searchParams.get('host') ?? ''
  assert.ok(Buffer.byteLength(join(socketDir, '.s.PGSQL.5432')) <= 107)
  assert.equal(statSync(socketDir).mode & 0o777, 0o700)
  await database.stop()
  assert.equal(existsSync(socketDir), false)
})

test('another PostgreSQL version’s data directory is refused in one line that names both, and left as it was', async (t) => {
  const folder = testFolder(t)
  await (await startEmbeddedPostgres({ ...folder, log })).stop()
  const version = join(clusterOf(folder), 'PG_VERSION')
  writeFileSync(version, '17\n')

  await assert.rejects(startEmbeddedPostgres({ ...folder, log }), (error: Error) => {
    assert.match(error.message, /^[^\n]*PostgreSQL 17[^\n]*PostgreSQL 18[^\n]*$/)
    return true
  })
  writeFileSync(version, '18\n')
  await startIn(folder)
})

test('a folder that holds something else is refused in one line and not touched', async (t) => {
  const folder = testFolder(t)
  const foreign = join(folder.dataDir, 'postgres/data')
  mkdirSync(foreign, { recursive: true })
  writeFileSync(join(foreign, 'precious'), 'x')

  await assert.rejects(startEmbeddedPostgres({ ...folder, log }), {
    message: /^[^\n]*not hold a complete database[^\n]*$/,
  })
  assert.equal(readFileSync(join(foreign, 'precious'), 'utf8'), 'x')
})

test('a data directory that cannot be made is refused in one line, also where the system denies what it is asked', async (t) => {
  const { path } = testFolder(t)
  writeFileSync(join(path, 'file'), '')
  symlinkSync(join(path, 'nowhere'), join(path, 'dangling'))
  for (const dataDir of [
    join(path, 'file/data'),
    join(path, 'dangling/data'),
    ...(existsSync('/proc') ? ['/proc/bridgework/data'] : []),
  ]) {
    await assert.rejects(startEmbeddedPostgres({ dataDir, log }), {
      name: 'Error',
      message: new RegExp(`^The data directory ${dataDir} cannot be used \\(E\\w+\\)\\. Check its access rights, .*$`),
    })
  }
})

test('a lock file that is not one is refused in one line and left as it was', async (t) => {
  const { dataDir } = testFolder(t)
  mkdirSync(dataDir)
  const file = join(dataDir, 'server.lock')
  writeFileSync(file, 'garbage\n'.repeat(500))
  await assert.rejects(startEmbeddedPostgres({ dataDir, log }), {
    message: `${file} is not the lock file that Bridgework makes. Delete it and start again.`,
  })
  assert.equal(readFileSync(file, 'utf8').length, 4_000)
})

test('a cluster for which the disk has no space is refused in one line that says so, and nothing of it stays', async (t) => {
  const folder = testFolder(t)
  // A limit on the size of files: what the file system refuses is the same to Postgres as a disk that is full.
  const script = join(folder.path, 'limited.sh')
  writeFileSync(
    script,
    `ulimit -f 600; exec "${process.execPath}" "${join(import.meta.dirname, 'lone-server.ts')}" "$@"\n`,
  )
  const { answer } = await startAlone(folder, { program: '/bin/sh', script, env: { NODE_COMPILE_CACHE: '' } })
  assert.match(
    answer.refusal ?? '',
    /^The database cannot be created in \S+: (could not write|File too large|.*extend file|.*signal 25).*\. Check that the disk has space/,
  )
  assert.deepEqual(
    readdirSync(folder.dataDir).filter((name) => name.includes('.new-')),
    [],
  )
})

test('a second server on the same data directory is refused in one line that names the first', async (t) => {
  const folder = testFolder(t)
  const { child } = await startAlone(folder)

  await assert.rejects(startEmbeddedPostgres({ ...folder, log }), (error: Error) => {
    assert.match(error.message, new RegExp(`^Another Bridgework server \\(process ${child.pid}\\)[^\\n]*$`))
    return true
  })
})

test('of two servers that start at once for the first time, one runs and the other is refused', async (t) => {
  const folder = testFolder(t)
  const both = await Promise.all([startAlone(folder), startAlone(folder)])

  assert.deepEqual(both.map(({ answer }) => answer.refusal === undefined).sort(), [false, true])
})

test('K17: an operator’s command uses the running server’s database, and without one starts it for its own duration', async (t) => {
  const folder = testFolder(t)
  const alone = await connectEmbedded(folder.dataDir, { copyRoot: folder.copyRoot, log })
  await query(alone.ownerUrl, 'create table note as select 7 as n')
  await alone.close()
  await assert.rejects(query(alone.ownerUrl, 'select 1'))
  const { child, answer } = await startAlone(folder)

  const beside = await connectEmbedded(folder.dataDir, { copyRoot: folder.copyRoot, log })
  assert.deepEqual(await query(beside.ownerUrl, 'select n from note'), [{ n: 7 }])
  await beside.close()

  assert.deepEqual(await query(answer.ownerUrl, 'select n from note'), [{ n: 7 }])
  await kill(child)
})

test('a server that starts while a command has the database waits for it', async (t) => {
  const folder = testFolder(t)
  const command = await connectEmbedded(folder.dataDir, { copyRoot: folder.copyRoot, log })
  const starting = startAlone(folder)

  await new Promise((resolve) => setTimeout(resolve, 300))
  await command.close()

  const { answer } = await starting
  assert.deepEqual(await query(answer.ownerUrl, 'select 1 as n'), [{ n: 1 }])
})

test('K11: no value that a statement carries reaches Postgres’ log', async (t) => {
  const folder = testFolder(t)
  const { ownerUrl } = await startIn(folder)
  await query(ownerUrl, 'create table patient (name text unique, born date)')
  const canary = 'Canary-4711'
  for (const statement of [
    `select '${canary}'::integer`,
    `select ${canary.replace('-', '')}`,
    `insert into patient values ('${canary}'), ('${canary}')`,
    `do $$ begin raise exception '${canary}'; end $$`,
    `do $$ begin raise warning '${canary}'; end $$; select 1 / 0 -- ${canary}`,
    `select pg_terminate_backend(pg_backend_pid()) -- ${canary}`,
  ]) {
    await assert.rejects(query(ownerUrl, statement), statement)
  }

  const written = readFileSync(join(folder.dataDir, 'postgres.log'), 'utf8')
  assert.match(written, /terminating connection/)
  assert.doesNotMatch(written, /Canary/)
})
