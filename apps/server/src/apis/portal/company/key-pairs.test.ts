import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionsOf, newCompany, read, someOwner, tokenFor } from '../testing/test-company.ts'
import { somePortal } from '../testing/test-portal.ts'

test('W11, W25: the secret of a key pair is in the answer that makes it and nowhere else; the database has its hash alone', async (t) => {
  const world = await somePortal(t)
  const { companyId, path } = await newCompany(world)
  const owner = await world.signInAs({ companyId }, 'owner')
  read(await owner.post(`${path}/agreement/acceptance`, { version: 1 }))

  const made = await owner.post(`${path}/key_pairs`)
  const pair = read<{ client_id: string; client_secret: string }>(made)
  assert.match(pair.client_id, /^bwc_/)
  assert.match(pair.client_secret, /^bws_/)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  assert.equal((await tokenFor(world, pair)).status, 200)

  for (const again of [`${path}/key_pairs`, path, `${path}/events`, `${path}/requests`, `${path}/usage`, '/session']) {
    const { text } = await owner.get(again)
    assert.ok(!text.includes(pair.client_secret) && !text.includes('bws_'), again)
  }
  const second = await owner.post(`${path}/key_pairs`)
  assert.deepEqual([second.status, second.body.code], [409, 'key_pair_exists'])
  assert.ok(!second.text.includes('bws_'))

  const tables = await world.pool.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class where relkind in ('r', 'p') and relnamespace::regnamespace::text = any(current_schemas(false))`,
  )
  for (const { name } of tables.rows) {
    const { rows } = await world.pool.query(`select from ${name} as row where position($1 in row::text) > 0`, [
      pair.client_secret,
    ])
    assert.equal(rows.length, 0, name)
  }
  const { rows } = await world.pool.query<{ secret_hmac: Buffer }>('select secret_hmac from key_pair')
  assert.deepEqual(rows, [{ secret_hmac: world.secretKey.hmac(pair.client_secret) }])
  assert.ok(!JSON.stringify(world.events).includes('bws_'))
})

test('W12: of two clicks on regenerate one makes a new pair, the other gets an error that says so, and both are on record', async (t) => {
  const { world, vendor, owner, path } = await someOwner(t)
  const seen = { client_id: vendor.clientId }

  const answers = await Promise.all([1, 2].map(() => owner.post(`${path}/key_pairs/regeneration`, seen)))

  assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 409])
  const made = answers.find((answer) => answer.status === 200)
  const pair = made?.body as unknown as { client_id: string; client_secret: string }
  const { data } = read<{ data: { client_id: string; state: string }[] }>(await owner.get(`${path}/key_pairs`))
  assert.deepEqual(
    data.map((each) => [each.client_id, each.state]),
    [
      [pair.client_id, 'live'],
      [vendor.clientId, 'revoked'],
    ],
  )
  assert.equal((await tokenFor(world, pair)).status, 200)
  assert.deepEqual((await actionsOf(owner, path)).sort(), [
    ['key_pair.generate', 'Generated a key pair in place of the one before'],
    ['key_pair.generate', 'Tried to replace a key pair that had ended already'],
  ])
  const { rows } = await world.pool.query<{ facts: { clientId?: string; replaced?: string } }>(
    `select facts from audit_event where action = 'key_pair.generate' and tenant_id = $1`,
    [vendor.companyId],
  )
  assert.deepEqual(
    rows.map(({ facts }) => [facts.clientId ?? null, facts.replaced]).sort(),
    [
      [null, vendor.clientId],
      [pair.client_id, vendor.clientId],
    ].sort(),
  )
})

test('W13: a token of the old pair is refused at once after a regeneration, and after a revocation', async (t) => {
  const { world, vendor, owner, path } = await someOwner(t)
  assert.equal((await vendor.get('/organizations')).status, 200)

  const pair = read<{ client_id: string; client_secret: string }>(
    await owner.post(`${path}/key_pairs/regeneration`, { client_id: vendor.clientId }),
  )
  const refused = await vendor.get('/organizations')
  assert.deepEqual([refused.status, refused.body.code], [401, 'token_invalid'])

  const { token } = (await tokenFor(world, pair)).body
  const ask = () => world.request('/api/v1/vendors/organizations', { headers: { authorization: `Bearer ${token}` } })
  assert.equal((await ask()).status, 200)
  read(await owner.post(`${path}/key_pairs/revocation`, { client_id: pair.client_id }))
  assert.equal((await ask()).status, 401)
  const again = await owner.post(`${path}/key_pairs/revocation`, { client_id: pair.client_id })
  assert.deepEqual([again.status, again.body.code], [409, 'key_pair_not_live'])
})

test('W19: the client id of another company’s pair ends nothing', async (t) => {
  const { world, owner, path } = await someOwner(t)
  const other = await world.addVendor()
  for (const act of ['regeneration', 'revocation']) {
    const refused = await owner.post(`${path}/key_pairs/${act}`, { client_id: other.clientId })
    assert.deepEqual([refused.status, refused.body.code], [404, 'key_pair_unknown'])
  }
  assert.equal((await other.get('/organizations')).status, 200)
})

test('keys say who made and who ended them, and when they were last used; a removed member keeps the name', async (t) => {
  const { world, vendor, owner, path } = await someOwner(t)
  const admin = await world.signInAs({ companyId: vendor.companyId }, 'admin')
  const pair = read<{ client_id: string; client_secret: string }>(
    await admin.post(`${path}/key_pairs/regeneration`, { client_id: vendor.clientId }),
  )
  await tokenFor(world, pair)
  await world.usage.flush()
  const members = read<{ data: { id: string; role: string }[] }>(
    await owner.get(`/tenants/${vendor.companyId}/members`),
  )
  const adminId = members.data.find((each) => each.role === 'admin')?.id
  read(await owner.delete(`/tenants/${vendor.companyId}/members/${adminId}`))

  const { data } = read<{ data: Record<string, unknown>[] }>(await owner.get(`${path}/key_pairs`))

  assert.deepEqual(
    data.map((each) => [each.state, each.created_by, each.revoked_by, each.last_used_at !== null]),
    [
      ['live', 'Person', null, true],
      ['revoked', 'Owner', 'Person', false],
    ],
  )
})
