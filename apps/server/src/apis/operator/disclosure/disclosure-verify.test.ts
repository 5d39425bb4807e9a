import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sealKeyOf } from '../../../modules/chain/seal-key.ts'
import { sealOnce } from '../../../modules/chain/sealer.ts'
import { createSecretKey } from '../../../modules/credentials/secret.ts'
import { insertDisclosures } from '../../../modules/disclosure/store.ts'
import { makeMonthsBetween } from '../../../modules/disclosure/testing/test-months.ts'
import { createLocation } from '../../../modules/onboarding/upsert-locations.ts'
import { type CompanyId, newUuid, type OrganizationId } from '../../../platform/identity/identity.ts'
import { aDigest, secretKey, someOperator } from '../testing/test-operator.ts'

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
  const folder = join(tmpdir(), `nowhere-${newUuid()}`)
  const nowhere = await run('disclosure', 'verify', '--seals', folder)
  assert.deepEqual(
    [nowhere.code, nowhere.err],
    [1, `There is no folder ${folder}. Name the folder of the published seals.`],
  )
})

test('F29: a month is dropped when it was shown and typed, and verify says so', async (t) => {
  const { pool, ownerPool, run, ask } = await someOperator(t)
  await makeMonthsBetween(ownerPool, new Date('2019-03-01'), new Date('2019-04-01'))
  await ownerPool.query(
    `insert into disclosure (disclosed_at, company_id, key_pair_id, location_id, dataset, filters, records, record_ids, request_id, ip)
     select '2019-03-31T10:00:00Z', $1, $1, 7, 'patients', '{}', 1, '{1}', 'r', '203.0.113.9' from generate_series(1, 3)`,
    [newUuid<CompanyId>()],
  )
  const drop = (...args: string[]) => run('disclosure', 'drop-month', '--month', '2019-03', ...args)
  assert.match((await drop()).err, /have no seal yet/)
  await sealOnce({ pool, key: async () => sealKeyOf(secretKey), now: () => new Date() })

  const shown = await drop()
  assert.equal(shown.code, 1)
  assert.match(
    shown.err,
    /monthly\.disclosure_2019_03 and monthly\.disclosed_day_2019_03: 3 disclosures of 1 locations/,
  )
  assert.match(shown.err, /repeat the command with --confirm 2019-03\./)
  assert.match((await drop('--confirm', '2019-04')).err, /The month is 2019-03, not "2019-04". Nothing was dropped/)
  assert.equal((await run('disclosure', 'drop-month', '--month', '2019-13')).code, 2)
  const young = new Date().toISOString().slice(0, 7)
  assert.match(
    (await run('disclosure', 'drop-month', '--month', young)).err,
    /may be dropped from \d{4}-\d\d-01 on, six years after its end/,
  )

  const dropped = await ask('disclosure', 'drop-month', '--month', '2019-03', '--confirm', '2019-03')
  assert.deepEqual([dropped.month, dropped.disclosures, dropped.seal], ['2019-03', 3, 1])
  const verified = await run('disclosure', 'verify')
  assert.equal(verified.code, 0, verified.out)
  assert.match(verified.out, /^3 disclosures of 2019-03 were dropped at \S+, those up to seal 1 wholly\.$/m)
  assert.match((await drop()).err, /There is no table of the month 2019-03. The oldest is of 2019-04/)
})
