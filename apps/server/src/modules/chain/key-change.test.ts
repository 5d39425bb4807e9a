import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { withTransaction } from '../../platform/database/pool.ts'
import { createSecretKey } from '../credentials/secret.ts'
import { changeSealKey } from './key-change.ts'
import { sealKeyOf } from './seal-key.ts'
import { someChain } from './testing/test-chain.ts'

const someKey = () => sealKeyOf(createSecretKey(randomBytes(32)))

/** Three days, each sealed with a key of its own. */
async function someRotations(t: TestContext) {
  const chain = await someChain(t)
  const keys = [chain.key, someKey(), someKey()] as const
  for (const [day, key] of keys.entries()) {
    const before = keys[day - 1]
    if (before) {
      const at = new Date(`2026-03-0${day + 1}T00:00:00Z`)
      await withTransaction(chain.pool, (client) => changeSealKey(client, before, key, at))
    }
    await chain.disclose(6, `2026-03-0${day + 1}T10:00:00Z`)
    await chain.act(2)
    await chain.seal(`2026-03-0${day + 1}T10:01:00Z`, key)
  }
  return { ...chain, keys }
}

test('F21: after rotations of its key a chain verifies with the first, a middle and the last key', async (t) => {
  const chain = await someRotations(t)
  for (const key of chain.keys) assert.deepEqual((await chain.verify({ key })).found, [])
  const { found } = await chain.verify({ key: someKey() })
  assert.equal(found.filter((text) => /signed with another key/.test(text)).length, 3)
})

test('F21: an earlier key signs nothing after it was replaced, and its old seals cannot be written again with it', async (t) => {
  const chain = await someRotations(t)
  const [first, , last] = chain.keys
  await chain.disclose(2, '2026-03-04T10:00:00Z')
  await chain.seal('2026-03-04T10:01:00Z', first)
  assert.match((await chain.verify({ key: last })).found.join('\n'), /^Seal 4 was signed with another key/)
  await chain.ownerPool.query('delete from seal where number = 4')

  // The thief of an earlier key edits an entry of its time, and makes that seal anew.
  await chain.ownerPool.query(
    'update disclosure set records = records + 1 where id = 2; delete from seal; delete from practice_seal; delete from practice_head',
  )
  await chain.seal('2026-03-01T10:01:00Z', first)
  const rewritten = (await chain.verify({ key: last })).found.join('\n')
  assert.match(rewritten, /Seal 1 is not the one after which the key was changed/)
  assert.match(rewritten, /after seal 2, and the last one is 1/)
})

test('F21: a change of the key that is not signed with both keys leads nowhere', async (t) => {
  const chain = await someChain(t)
  const thief = someKey()
  await chain.disclose(3, '2026-03-01T10:00:00Z')
  await chain.seal('2026-03-01T10:01:00Z', thief)
  const forged = { ...thief, text: chain.key.text }
  await withTransaction(chain.pool, (client) => changeSealKey(client, thief, forged, new Date()))
  const { found } = await chain.verify()
  assert.match(found.join('\n'), /not signed by both keys/)
  assert.match(found.join('\n'), /signed with another key/)
})
