import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSignature } from 'better-auth/crypto'
import { copyTestDatabase, createTestDatabase } from '../../platform/database/testing/test-database.ts'
import type { LogEvent } from '../../platform/log/log-event.ts'
import { someCompany } from '../../testing/test-world.ts'
import { recordOperatorAct } from '../audit/operator-act.ts'
import { ensureFirstAgreement } from '../credentials/agreement.ts'
import { requireInstallation, WrongSecretKey } from '../credentials/installation.ts'
import { createSecretKeyOf } from '../credentials/secret.ts'
import { loadSecretKey } from '../credentials/secret-key-file.ts'
import { verifyKeyPair } from '../credentials/verify-key-pair.ts'
import { createAuth } from '../sign-in/auth.ts'
import { signedWithCurrent } from '../sign-in/auth-secrets.ts'
import { createPerson, hashPassword } from '../sign-in/create-person.ts'
import { useTotp } from '../sign-in/used-totp.ts'
import { followSecretKey } from './follow.ts'
import { listReaders } from './reader.ts'
import { dropEarlierKeys, type RotationWork, rotateSecretKey, rotationStatus } from './rotation.ts'

/** A database, the key files of two machines with one key, servers that follow them, and the rotation as the command runs it. */
async function someInstallation(t: TestContext) {
  const database = await createTestDatabase(t)
  const { pool } = database
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-keys-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [here, there] = ['here', 'there'].map((name) => ({ secretKeyFile: join(folder, name), dataDir: folder }))
  if (!here || !there) throw new Error('there are two files')
  writeFileSync(here.secretKeyFile, randomBytes(32).toString('base64'), { mode: 0o600 })
  const copyFile = () => copyFileSync(here.secretKeyFile, there.secretKeyFile)
  copyFile()
  await ensureFirstAgreement(pool)
  const first = loadSecretKey(here)
  await requireInstallation(pool, first)
  const events: LogEvent[] = []
  const follow = async (settings = here) => {
    const followed = await followSecretKey({ pool, settings, log: (event) => events.push(event), pollMs: 20 })
    t.after(followed.stop)
    return followed
  }
  const said: string[] = []
  const by = { userId: null, actor: 'Test', ip: null, requestId: null }
  const record: RotationWork['record'] = (db, facts) =>
    recordOperatorAct(db, { ...by, action: 'secret_key.rotate', facts })
  const recordDrop: RotationWork<'secret_key.drop'>['record'] = (db, facts) =>
    recordOperatorAct(db, { ...by, action: 'secret_key.drop', facts })
  const work = async (options: Partial<RotationWork> = {}): Promise<RotationWork> => {
    const secretKey = loadSecretKey(here)
    await requireInstallation(pool, secretKey)
    return {
      ...{ pool, settings: here, secretKey, record, say: (text) => said.push(text), show: () => {} },
      ...{ signal: new AbortController().signal, pollMs: 10, deadMs: 200 },
      ...options,
    }
  }
  const rotate = async (options?: Partial<RotationWork>) => await rotateSecretKey(await work(options))
  const drop = async () => await dropEarlierKeys({ ...(await work()), record: recordDrop })
  return { ...database, folder, here, there, copyFile, first, follow, work, rotate, drop, said, events }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(5)
}

test('F27: a rotation waits until the server of another machine has read the new key, and can be stopped meanwhile', async (t) => {
  const { rotate, follow, there, copyFile, said, work, first, events } = await someInstallation(t)
  const [near, far] = [await follow(), await follow(there)]
  const stopping = new AbortController()
  const stopped = rotate({ signal: stopping.signal })
  await until(() => said.some((text) => text.startsWith('Waiting for servers that have not read the new key')))
  await assert.rejects(rotate({ busyMs: 100 }), { code: 'secret_key_busy' })
  stopping.abort()
  await assert.rejects(stopped, { code: 'stopped' })
  const status = await rotationStatus(await work())
  assert.deepEqual(
    status.keys.map(({ state }) => state),
    ['current', 'next'],
  )
  assert.deepEqual([near.secretKey.id, far.secretKey.id], [first.id, first.id])

  const rotating = rotate()
  await sleep(50)
  copyFile()
  const { keys, remaining, isSettled } = await rotating
  assert.deepEqual([keys.map(({ state }) => state), remaining, isSettled], [['earlier', 'current'], [], true])
  const next = keys[1]?.id
  assert.deepEqual([near.secretKey.id, far.secretKey.id], [next, next])
  assert.ok(events.some((each) => each.event === 'secret_key.reloaded' && each.current === next))
})

test('F27: a server that died is not waited for, and one that stopped in order is forgotten', async (t) => {
  const { rotate, follow, pool } = await someInstallation(t)
  const { stop } = await follow()
  assert.equal((await listReaders(pool)).length, 1)
  await stop()
  assert.deepEqual(await listReaders(pool), [])
  await pool.query(
    `insert into secret_key_reader (process_id, name, key_ids, current_key_id, seen_at) values (gen_random_uuid(), 'dead', '{x}', 'x', now())`,
  )
  const { readers } = await rotate()
  assert.deepEqual(readers, [])
})

test('F27: a server that starts with a file without the current key is refused, and one whose file breaks keeps its keys', async (t) => {
  const { rotate, follow, there, here, first, events } = await someInstallation(t)
  await rotate()
  await assert.rejects(follow(there), WrongSecretKey)
  const { secretKey } = await follow()
  const whole = readFileSync(here.secretKeyFile)
  for (const broken of ['nonsense', readFileSync(there.secretKeyFile)]) {
    events.length = 0
    writeFileSync(here.secretKeyFile, broken)
    await until(() => events.length > 0)
    assert.equal(events[0]?.event, 'server.warning')
    assert.equal(secretKey.all().length, 2)
    assert.notEqual(secretKey.id, first.id)
    writeFileSync(here.secretKeyFile, whole)
    await sleep(50)
  }
  chmodSync(here.secretKeyFile, 0o644)
  await until(() => events.some((each) => each.event === 'server.warning' && each.text.includes('chmod 600')))
})

test('F27: an earlier key is dropped when nothing needs it, and a hash is stored anew when its secret is used', async (t) => {
  const { rotate, drop, pool, first, here, work } = await someInstallation(t)
  const { pair } = await someCompany(pool, first)
  const one = await rotate()
  assert.deepEqual(
    one.remaining.map(({ what, rows }) => [what, rows]),
    [['key pairs of vendors', 1]],
  )
  assert.deepEqual(await rotate(), await rotationStatus(await work()), 'the second time it changes nothing')
  await assert.rejects(drop(), { code: 'secret_key_in_use', errors: /1 key pairs of vendors: each when its vendor/ })

  const { secretKey } = await work()
  // A process that has not noticed the rotation yet does not store it under the earlier key again.
  const behind = createSecretKeyOf(secretKey.all())
  behind.adopt(secretKey.all(), first.check)
  for (const each of [behind, secretKey, behind, secretKey])
    assert.ok('companyId' in (await verifyKeyPair(pool, each, pair.clientId, pair.clientSecret)))
  assert.equal(await drop(), 1)
  assert.equal(await drop(), 0)
  const alone = loadSecretKey(here)
  assert.equal(alone.all().length, 1)
  assert.ok('companyId' in (await verifyKeyPair(pool, alone, pair.clientId, pair.clientSecret)))
  await assert.rejects(requireInstallation(pool, first), WrongSecretKey)
  const { rows } = await pool.query<{ action: string }>('select action from audit_event order by id')
  assert.deepEqual(
    rows.map(({ action }) => action).filter((action) => action.startsWith('secret_key')),
    ['secret_key.rotate', 'secret_key.drop'],
  )
})

test('F27: a database from before a rotation is restored with the key of its time', async (t) => {
  const { rotate, drop, first, serverUrl, here, pool } = await someInstallation(t)
  const { pair } = await someCompany(pool, first)
  const restored = await copyTestDatabase(t, { serverUrl })
  await rotate()
  await verifyKeyPair(pool, loadSecretKey(here), pair.clientId, pair.clientSecret)
  await drop()
  await assert.rejects(requireInstallation(restored.pool, loadSecretKey(here)), WrongSecretKey)
  const old = createSecretKeyOf([...first.all(), ...loadSecretKey(here).all()])
  await requireInstallation(restored.pool, old)
  assert.equal(old.id, first.id)
  assert.ok('companyId' in (await verifyKeyPair(restored.pool, old, pair.clientId, pair.clientSecret)))
})

test('F27: between two steps a cookie of either key is good, and a one-time password counts once', async (t) => {
  const { pool, rotate, first, work } = await someInstallation(t)
  await rotate()
  const { secretKey: ahead } = await work()
  const behind = createSecretKeyOf(ahead.all())
  behind.adopt(ahead.all(), first.check)
  const value = 'abc'
  const cookieOf = async (secret: string) =>
    `one=1; __Secure-session=${encodeURIComponent(`${value}.${await makeSignature(value, secret)}`)}; last=%E0`
  const [ofFirst, ofNext] = [await cookieOf(first.sessionSecret), await cookieOf(ahead.sessionSecret)]
  assert.notEqual(ofFirst, ofNext)
  assert.equal(signedWithCurrent(ofFirst, ahead), ofNext)
  assert.equal(signedWithCurrent(ofNext, behind), ofFirst)
  const stranger = await cookieOf('another secret')
  assert.equal(signedWithCurrent(stranger, ahead), stranger)

  const { rows } = await pool.query<{ id: string }>(
    `insert into portal_user (id, name, email) values (gen_random_uuid(), 'Person', 'p@example.com') returning id`,
  )
  const used = [behind, ahead, behind].map((each) => useTotp(pool, each, rows[0]?.id ?? '', '123456'))
  assert.deepEqual((await Promise.all(used)).toSorted(), [false, false, true])
})

test('F27: a session is good also where the key changes while its request is answered', async (t) => {
  const { pool, rotate, first, work } = await someInstallation(t)
  await rotate()
  const { secretKey: ahead } = await work()
  const serving = createSecretKeyOf(first.all())
  const auth = createAuth({ pool, secretKey: serving, publicUrl: 'https://api.example.com' })
  const [email, password] = ['p@example.com', 'correct horse battery staple']
  await createPerson(pool, { email, name: 'Person', passwordHash: await hashPassword(auth, password) })
  const signedIn = await auth.api.signInEmail({ body: { email, password }, returnHeaders: true })
  const cookie = signedIn.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  // The headers of one request, which several calls of better-auth read.
  const headers = new Headers({ cookie })
  assert.equal((await auth.api.getSession({ headers }))?.user.email, email)
  serving.adopt(ahead.all(), ahead.check)
  assert.equal((await auth.api.getSession({ headers }))?.user.email, email)
  await auth.api.signOut({ headers })
  assert.equal(await auth.api.getSession({ headers }), null)
})
