import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openRelease, sealRelease, UpdateRefused } from '@bridgework/contract/signed-release'
import { temporaryFolder } from '../testing/test-agent.ts'
import { openUpdates } from './updates.ts'

const cutProcess = join(import.meta.dirname, 'testing/test-cut-process.ts')
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const release = (version: string) => sealRelease(version, Buffer.from(`// ${version}\n`), privateKey)

test('a release is taken whole and signed with our key, and in no other way', () => {
  const sealed = release('0.3.0')
  assert.equal(openRelease(sealed, publicKey).version, '0.3.0')
  const foreign = generateKeyPairSync('ed25519')
  assert.throws(
    () => openRelease(sealRelease('0.3.0', Buffer.from(''), foreign.privateKey), publicKey),
    /not signed with the key/,
  )
  // Any byte that is changed, left out or added.
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    if (openable(changed)) assert.fail(`byte ${at} may be changed`)
    assert.ok(!openable(sealed.subarray(0, at)), `${at} bytes are enough`)
  }
  assert.ok(!openable(Buffer.concat([sealed, Buffer.from('x')])))

  function openable(file: Buffer): boolean {
    try {
      openRelease(file, publicKey)
      return true
    } catch (error) {
      assert.ok(error instanceof UpdateRefused, String(error))
      return false
    }
  }
})

test('an older or the same release is refused, also a signed one that was taken before', (t) => {
  const updates = openUpdates(temporaryFolder(t), publicKey)
  assert.equal(updates.install(release('0.3.0'), '0.2.0'), '0.3.0')
  updates.write({ ...updates.read(), current: '0.3.0', next: null })
  for (const version of ['0.2.9', '0.3.0']) {
    assert.throws(
      () => updates.install(release(version), '0.2.0'),
      /Version .* is not newer than 0\.3\.0\. To go back, install the older package\./,
    )
  }
  assert.throws(() => updates.install(release('0.3.1'), '0.4.0'), /not newer than 0\.4\.0/)
})

test('a program that was changed on the disk is replaced by what was signed, and a damaged release does not start', (t) => {
  const folder = temporaryFolder(t)
  const updates = openUpdates(folder, publicKey)
  updates.install(release('0.3.0'), '0.2.0')
  const program = updates.program('0.3.0') ?? assert.fail('no program')
  assert.equal(statSync(program).mode & 0o777, 0o600)
  writeFileSync(program, 'something else')
  assert.equal(readFileSync(updates.program('0.3.0') ?? '', 'utf8'), '// 0.3.0\n')
  writeFileSync(join(folder, 'updates', '0.3.1.release'), release('0.3.0'))
  assert.equal(updates.program('0.3.1'), null, 'another release under this name')
  writeFileSync(join(folder, 'updates', '0.3.0.release'), release('0.3.0').subarray(0, 50))
  assert.equal(updates.program('0.3.0'), null)
})

test('killed at any step of an update, the agent has a working version and takes the next update', async (t) => {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const versionsAfter = new Set<string>()
  let kills = 0
  for (let isDone = false; !isDone; kills++) {
    const folder = temporaryFolder(t)
    const before = openUpdates(folder, publicKey)
    before.install(release('0.3.0'), '0.2.0')
    before.write({ ...before.read(), current: '0.3.0', next: null })

    const child = spawnSync(process.execPath, [cutProcess, folder, String(kills + 1)], { input: key, encoding: 'utf8' })
    isDone = child.status === 0
    assert.ok(isDone || child.signal === 'SIGKILL', child.stderr)
    const after = openUpdates(folder, publicKey)
    const { current, next } = after.read()
    assert.ok(current !== null)
    versionsAfter.add(`${current} ${next}`)
    for (const version of [current, next].filter((each) => each !== null)) {
      assert.equal(readFileSync(after.program(version) ?? '', 'utf8'), `// ${version}\n`, `killed at step ${kills + 1}`)
    }
    // What the kill left is in no update's way, and does not stay.
    after.install(release('0.5.0'), '0.2.0')
    after.keep(['0.5.0'])
    assert.deepEqual(readdirSync(join(folder, 'updates')).sort(), ['0.5.0.release', 'state.json'])
  }
  t.diagnostic(`${kills - 1} kills`)
  assert.deepEqual([...versionsAfter], ['0.3.0 null', '0.3.0 0.4.0', '0.4.0 null'])
})
