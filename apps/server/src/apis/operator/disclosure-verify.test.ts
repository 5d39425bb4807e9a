import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sealKeyOf } from '../../modules/chain/seal-key.ts'
import { sealOnce } from '../../modules/chain/sealer.ts'
import { createSecretKey } from '../../modules/credentials/secret.ts'
import { insertDisclosures } from '../../modules/disclosure/store.ts'
import { createLocation } from '../../modules/onboarding/upsert-locations.ts'
import { type CompanyId, newUuid, type OrganizationId } from '../../platform/identity/identity.ts'
import { aDigest, secretKey, someOperator } from './test-operator.ts'

test('F21: verify says what it looked at, names what was changed, and ends with exit code 3', async (t) => {
  const { pool, ownerPool, run, ask } = await someOperator(t)
  const { id } = await ask('organization', 'create', '--name', 'Smile Group')
  const location = await createLocation(pool, id as OrganizationId, { sourceId: '1', name: 'Downtown' })
  const digest = aDigest(newUuid<CompanyId>(), location.id)
  await insertDisclosures(pool, [digest, digest], { timeoutMs: 5_000 })
  const key = sealKeyOf(secretKey)
  await sealOnce({ pool, key: async () => key, now: () => new Date() })

  const good = await run('disclosure', 'verify')
  assert.equal(good.code, 0, good.err)
  assert.match(good.out, /^Checked 1 seals from \S+ to \S+: 2 disclosures, 2 acts, 0 practice seals\.$/m)
  assert.match(good.out, /^Nothing was changed, removed, added or moved since it was sealed\.$/m)
  assert.match(good.err, /--seals/)
  assert.deepEqual(await ask('disclosure', 'key'), { id: key.id, public_key: key.text })
  assert.equal((await run('disclosure', 'verify', '--public-key', key.text)).code, 0)

  await ownerPool.query('update disclosure set records = 1 where id = 2')
  const bad = await run('disclosure', 'verify')
  assert.equal(bad.code, 3)
  assert.match(bad.out, /^Found 1 problems:\n {2}seal 1: The disclosure 2 was changed\.$/m)
  const other = sealKeyOf(createSecretKey(Buffer.alloc(32, 6)))
  assert.match((await run('disclosure', 'verify', '--public-key', other.text)).out, /signed with another key/)
  assert.equal((await run('disclosure', 'verify', '--public-key', 'x')).code, 2)
  const nowhere = await run('disclosure', 'verify', '--seals', '/nowhere')
  assert.deepEqual(
    [nowhere.code, nowhere.err],
    [1, 'There is no folder /nowhere. Name the folder of the published seals.'],
  )
})
