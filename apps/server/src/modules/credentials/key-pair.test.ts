import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newUuid } from '../../platform/identity/identity.ts'
import { someAccessWorld } from '../consent/testing/test-world.ts'
import { suspendCompany } from '../directory/company.ts'
import { createCompany } from '../membership/create-tenant.ts'
import { addMember } from '../membership/member.ts'
import { acceptAgreement, publishAgreement } from './agreement.ts'
import { generateKeyPair, listKeyPairs, regenerateKeyPair, revokeKeyPair } from './key-pair.ts'
import { createSecretKey, newSecret } from './secret.ts'
import { verifyKeyPair } from './verify-key-pair.ts'

test('T02, T03, T04, T05: a pair is right only while both halves are, the pair lives, and company and agreement stand', async (t) => {
  const world = await someAccessWorld(t)
  const { company, owner, pair } = await world.addCompany()
  const other = await world.addCompany()
  const by = { companyId: company.id, memberId: owner.id }
  const verify = async (clientId: string, secret: string) => {
    const verdict = await verifyKeyPair(world.pool, world.secretKey, clientId, secret)
    return 'refused' in verdict ? { refused: verdict.refused } : verdict
  }

  assert.deepEqual(await verify(pair.clientId, pair.clientSecret), { companyId: company.id, keyPairId: pair.keyPairId })
  assert.deepEqual(await verify(newSecret('bwc'), pair.clientSecret), { refused: 'unknown' })
  assert.deepEqual(await verify('', ''), { refused: 'unknown' })
  assert.deepEqual(await verify(`${pair.clientId}\0`, pair.clientSecret), { refused: 'unknown' })
  assert.deepEqual(await verify(pair.clientId, other.pair.clientSecret), { refused: 'wrong secret' })
  assert.deepEqual(await verify(pair.clientId, ''), { refused: 'wrong secret' })

  await suspendCompany(world.pool, other.company.id)
  assert.deepEqual(await verify(other.pair.clientId, other.pair.clientSecret), { refused: 'company' })

  const next = await regenerateKeyPair(world.pool, world.secretKey, by)
  assert.deepEqual(await verify(pair.clientId, pair.clientSecret), { refused: 'revoked' })
  assert.deepEqual(await verify(next.clientId, pair.clientSecret), { refused: 'wrong secret' })
  assert.ok('companyId' in (await verify(next.clientId, next.clientSecret)))

  await publishAgreement(world.pool, { version: 2, body: 'Be kinder.', enforcedAt: new Date(0) })
  assert.deepEqual(await verify(next.clientId, next.clientSecret), { refused: 'agreement' })
})

test('T03: whatever is wrong with a pair, the same one statement is asked', async (t) => {
  const world = await someAccessWorld(t)
  const { company, pair } = await world.addCompany()
  const asked: unknown[] = []
  t.mock.method(
    world.pool,
    'query',
    new Proxy(world.pool.query, {
      apply: (query, self, args) => {
        asked.push(typeof args[0] === 'object' ? args[0].name : args[0])
        return Reflect.apply(query, self, args)
      },
    }),
  )
  await verifyKeyPair(world.pool, world.secretKey, pair.clientId, pair.clientSecret)
  await verifyKeyPair(world.pool, world.secretKey, newSecret('bwc'), pair.clientSecret)
  await verifyKeyPair(world.pool, world.secretKey, pair.clientId, newSecret('bws'))
  await revokeKeyPair(world.pool, { companyId: company.id, memberId: null })
  asked.pop()
  await verifyKeyPair(world.pool, world.secretKey, pair.clientId, pair.clientSecret)
  assert.deepEqual(asked, Array(4).fill('verify-key-pair'))
})

test('K13: client id and secret are recognisable, random, and stored only as a hash under the installation’s key', async (t) => {
  const world = await someAccessWorld(t)
  const { pair } = await world.addCompany()
  assert.match(pair.clientId, /^bwc_[\w-]{43}$/)
  assert.match(pair.clientSecret, /^bws_[\w-]{43}$/)
  const { rows } = await world.pool.query('select key_pair::text as row from key_pair')
  assert.equal(rows.length, 1)
  assert.ok(!rows[0].row.includes(pair.clientSecret) && !rows[0].row.includes(pair.clientSecret.slice(4)))
  const stolen = await verifyKeyPair(world.pool, createSecretKey(Buffer.alloc(32, 8)), pair.clientId, pair.clientSecret)
  assert.ok('refused' in stolen && stolen.refused === 'wrong secret')
})

test('W12: parallel regenerations end with exactly one live pair, and all are on record', async (t) => {
  const world = await someAccessWorld(t)
  const { company, owner } = await world.addCompany()
  const by = { companyId: company.id, memberId: owner.id }

  const made = await Promise.all(Array.from({ length: 8 }, () => regenerateKeyPair(world.pool, world.secretKey, by)))

  const verdicts = await Promise.all(
    made.map((pair) => verifyKeyPair(world.pool, world.secretKey, pair.clientId, pair.clientSecret)),
  )
  assert.equal(verdicts.filter((verdict) => 'companyId' in verdict).length, 1)
  const pairs = await listKeyPairs(world.pool, company.id)
  assert.equal(pairs.length, 9)
  assert.deepEqual(pairs.map(({ state }) => state.state).sort(), ['live', ...Array(8).fill('revoked')])
  for (const { state } of pairs) if (state.state === 'revoked') assert.equal(state.revokedBy, owner.id)
})

test('W02: keys are generated by an owner or admin, after the owner accepted, for an active company, one live pair at a time', async (t) => {
  const world = await someAccessWorld(t)
  const { company, owner } = await createCompany(world.pool, {
    name: 'Vendor',
    owner: { email: 'o@vendor.example', name: 'Olga Owner' },
  })
  const admin = await addMember(
    world.pool,
    { side: 'company', id: company.id },
    { email: 'a@vendor.example', name: 'Ada', role: 'admin' },
  )
  const member = await addMember(
    world.pool,
    { side: 'company', id: company.id },
    { email: 'm@vendor.example', name: 'Max', role: 'member' },
  )
  const stranger = await world.addCompany()
  const generate = (memberId: typeof owner.id) =>
    generateKeyPair(world.pool, world.secretKey, { companyId: company.id, memberId })

  await assert.rejects(generate(owner.id), { code: 'agreement_not_accepted', message: /not accepted/ })
  await acceptAgreement(world.pool, { companyId: company.id, memberId: owner.id, version: 1 })
  await assert.rejects(generate(member.id), { code: 'role_denied' })
  await assert.rejects(generate(stranger.owner.id), { code: 'member_unknown' })
  await assert.rejects(generate(newUuid()), { code: 'member_unknown' })
  await suspendCompany(world.pool, stranger.company.id)
  await assert.rejects(
    regenerateKeyPair(world.pool, world.secretKey, { companyId: stranger.company.id, memberId: stranger.owner.id }),
    { code: 'company_closed', message: /suspended/ },
  )
  await generate(admin.id)
  await assert.rejects(generate(owner.id), { code: 'key_pair_exists' })
  assert.equal(await revokeKeyPair(world.pool, { companyId: company.id, memberId: owner.id }), true)
  assert.equal(await revokeKeyPair(world.pool, { companyId: company.id, memberId: owner.id }), false)
  await generate(owner.id)
})
