import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseUnavailable } from '../pool.ts'
import { postgresAccount } from './account.ts'
import { startEmbeddedPostgres } from './embedded-postgres.ts'
import { isAlive } from './process-table.ts'
import {
  clusterOf,
  kill,
  postmasterPid,
  query,
  spawnAlone,
  startAlone,
  startIn,
  testFolder,
  until,
} from './testing/test-data-dir.ts'

const log = () => {}

test('a Postgres that is killed is back within 5 s at the same address, with all that it acknowledged', async (t) => {
  const folder = testFolder(t)
  const events: string[] = []
  const database = await startIn(folder, { log: ({ event }) => events.push(event) })
  await query(database.ownerUrl, 'create table note as select 7 as n')
  for (let round = 1; round <= 3; round += 1) {
    const pid = postmasterPid(folder)
    process.kill(pid, 'SIGKILL')
    const killedAt = performance.now()
    await until(() => !isAlive(pid))

    let refused = 0
    await until(async () => {
      try {
        await query(database.ownerUrl, 'select n from note')
        return true
      } catch (error) {
        assert.ok(isDatabaseUnavailable(error), String(error))
        refused += 1
        return false
      }
    })

    assert.ok(refused > 0)
    assert.ok(performance.now() - killedAt < 5_000, `round ${round}: ${performance.now() - killedAt} ms`)
  }
  assert.equal(events.filter((event) => event === 'database.died').length, 3)
})

test('a database of many files is ready within 5 s after server and Postgres were killed together', async (t) => {
  const folder = testFolder(t)
  const { child, answer } = await startAlone(folder)
  await query(answer.ownerUrl, 'create table note as select 7 as n')
  const pid = postmasterPid(folder)
  process.kill(pid, 'SIGKILL')
  await kill(child)
  // As many as the tables and indexes of a large installation have. Synced one by one, they take longer.
  const files = join(clusterOf(folder), 'base/5')
  for (let number = 0; number < 1_000; number += 1) writeFileSync(join(files, `many_${number}`), 'x'.repeat(1_000))
  await until(() => !isAlive(pid))

  const beganAtMs = performance.now()
  const database = await startIn(folder)
  const tookMs = performance.now() - beganAtMs

  t.diagnostic(`${Math.round(tookMs)} ms`)
  assert.ok(tookMs < 5_000, `${tookMs} ms`)
  if (process.platform === 'linux') {
    const [setting] = await query(database.ownerUrl, 'show recovery_init_sync_method')
    assert.deepEqual(setting, { recovery_init_sync_method: 'syncfs' })
  }
  assert.deepEqual(await query(database.ownerUrl, 'select n from note'), [{ n: 7 }])
})

test('one backend that is killed takes the others with it for a moment, and the server goes on', async (t) => {
  const folder = testFolder(t)
  const { adminUrl } = await startIn(folder)
  const pid = postmasterPid(folder)

  const [backend] = await query<{ pid: number }>(
    adminUrl,
    `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
  )
  assert.ok(backend)
  process.kill(backend.pid, 'SIGKILL')

  await until(() => !isAlive(backend.pid))
  await until(() =>
    query(adminUrl, 'select 1').then(
      () => true,
      () => false,
    ),
  )
  assert.equal(postmasterPid(folder), pid)
})

test('a Postgres left by a killed server is taken over as it runs, with what was acknowledged', async (t) => {
  const folder = testFolder(t)
  const { child, answer } = await startAlone(folder)
  await query(answer.ownerUrl, 'create table note as select 7 as n')
  const orphan = postmasterPid(folder)
  await kill(child)
  assert.ok(isAlive(orphan))

  const database = await startIn(folder)

  assert.equal(postmasterPid(folder), orphan)
  assert.deepEqual(await query(database.ownerUrl, 'select n from note'), [{ n: 7 }])
  process.kill(orphan, 'SIGKILL')
  await until(() =>
    query(database.ownerUrl, 'select n from note').then(
      () => true,
      () => false,
    ),
  )
  await database.stop()
  assert.equal(existsSync(join(clusterOf(folder), 'postmaster.pid')), false)
})

test('a Postgres left by a killed server that was started otherwise is started anew', async (t) => {
  const folder = testFolder(t)
  const { child } = await startAlone(folder)
  const orphan = postmasterPid(folder)
  await kill(child)

  const database = await startIn(folder, { throwAway: { settings: { work_mem: '5MB' } } })

  assert.equal(isAlive(orphan), false)
  assert.deepEqual(await query(database.ownerUrl, 'show work_mem'), [{ work_mem: '5MB' }])
})

test('a Postgres left by a killed server that does not answer any more is ended and started anew', async (t) => {
  const folder = testFolder(t)
  const { child } = await startAlone(folder)
  const orphan = postmasterPid(folder)
  await kill(child)
  process.kill(orphan, 'SIGSTOP')

  const database = await startIn(folder)

  assert.equal(isAlive(orphan), false)
  assert.deepEqual(await query(database.ownerUrl, 'select 1 as n'), [{ n: 1 }])
})

test('a stale postmaster.pid does not stop a start: of no process, of another program of the same account, of init', async (t) => {
  const folder = testFolder(t)
  await (await startEmbeddedPostgres({ ...folder, log })).stop()
  const account = postgresAccount(clusterOf(folder))
  const other = spawn('sleep', ['600'], { ...account, cwd: '/', stdio: 'ignore' })
  t.after(() => other.kill('SIGKILL'))
  const gone = spawn('true')
  await once(gone, 'exit')
  for (const pid of [gone.pid, other.pid, 1]) {
    const socketDir = join(dirname(clusterOf(folder)), 'socket')
    const lines = [pid, clusterOf(folder), 1_700_000_000, 5432, socketDir, '', '  1234567    99', 'ready   ']
    writeFileSync(join(clusterOf(folder), 'postmaster.pid'), `${lines.join('\n')}\n`)
    writeFileSync(join(socketDir, '.s.PGSQL.5432.lock'), `${lines.slice(0, 5).join('\n')}\n`)

    const database = await startEmbeddedPostgres({ ...folder, log })

    assert.deepEqual(await query(database.ownerUrl, 'select 1 as n'), [{ n: 1 }])
    await database.stop()
  }
})

test('server and Postgres killed together start again, though the killed one’s last children are still there', async (t) => {
  const folder = testFolder(t)
  const { child, answer } = await startAlone(folder)
  await query(answer.ownerUrl, 'create table note as select 7 as n')
  const pid = postmasterPid(folder)
  child.kill('SIGKILL')
  process.kill(pid, 'SIGKILL')
  await until(() => !isAlive(pid) && !isAlive(child.pid ?? 0))

  const database = await startIn(folder)

  assert.deepEqual(await query(database.ownerUrl, 'select n from note'), [{ n: 7 }])
})

test('a first start that is killed at any moment leaves nothing that stops the second', async (t) => {
  for (const afterMs of [0, 200, 500]) {
    const folder = testFolder(t)
    const { child } = spawnAlone(folder)
    await until(() => existsSync(join(folder.dataDir, 'server.lock.json')))
    await sleep(afterMs)
    await kill(child)

    const database = await startIn(folder)

    assert.deepEqual(await query(database.ownerUrl, 'select 1 as n'), [{ n: 1 }])
    const beside = dirname(dirname(clusterOf(folder)))
    assert.deepEqual(
      readdirSync(beside).filter((name) => name.includes('.new-')),
      [],
    )
    await database.stop()
  }
})

test('half-made clusters are swept and nothing else', async (t) => {
  const folder = testFolder(t)
  await (await startIn(folder)).stop()
  const home = dirname(clusterOf(folder))
  const half = `${home}.new-0123456789ab`
  const kept = `${home}.new-backup`
  for (const directory of [half, kept]) {
    mkdirSync(join(directory, 'data'), { recursive: true })
    writeFileSync(join(directory, 'data/PG_VERSION'), '18\n')
  }

  await startIn(folder)

  assert.deepEqual([existsSync(half), existsSync(kept)], [false, true])
})

test('Ctrl-C in the terminal reaches the server and not its Postgres', async (t) => {
  const folder = testFolder(t)
  await startIn(folder)
  const pid = postmasterPid(folder)

  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const [, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  assert.equal(Number(group), pid)
})
