import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publishAgreement } from '../../../modules/credentials/agreement.ts'
import { actionsOf, countOf, newCompany, read, someOwner } from '../testing/test-company.ts'
import { somePortal } from '../testing/test-portal.ts'

test('W01: only the company’s own owner accepts the agreement; anyone else leaves no acceptance', async (t) => {
  const world = await somePortal(t)
  const { companyId, path } = await newCompany(world)
  const other = await world.addVendor()
  const before = await countOf(world, 'agreement_acceptance')
  const acceptance = `${path}/agreement/acceptance`

  for (const role of ['admin', 'member'] as const) {
    const person = await world.signInAs({ companyId }, role)
    const refused = await person.post(acceptance, { version: 1 })
    assert.deepEqual([refused.status, refused.body.code], [403, 'role_denied'])
  }
  const stranger = await world.signInAs({ companyId: other.companyId }, 'owner')
  const unknown = await stranger.post(acceptance, { version: 1 })
  assert.deepEqual([unknown.status, unknown.body.code], [404, 'company_unknown'])
  const nobody = await world.request(`/portal/api${acceptance}`, {
    method: 'POST',
    headers: { origin: 'http://localhost', 'content-type': 'application/json' },
    body: '{"version":1}',
  })
  assert.deepEqual([nobody.status, nobody.body.code], [401, 'sign_in_required'])
  assert.equal(await countOf(world, 'agreement_acceptance'), before)

  const owner = await world.signInAs({ companyId }, 'owner')
  const page = read<Record<string, unknown>>(await owner.get(`${path}/agreement`))
  assert.deepEqual(
    [page.current_version, page.accepted_version, page.is_in_force, page.body],
    [1, null, false, 'The agreement.'],
  )
  const old = await owner.post(acceptance, { version: 2 })
  assert.deepEqual([old.status, old.body.code], [409, 'agreement_not_current'])
  const accepted = read<Record<string, unknown>>(await owner.post(acceptance, { version: 1 }))
  assert.deepEqual(
    [accepted.accepted_version, accepted.is_in_force, accepted.required_at, accepted.accepted_by],
    [1, true, null, 'First'],
  )
  assert.equal(await countOf(world, 'agreement_acceptance'), before + 1)
  assert.deepEqual(await actionsOf(owner, path), [['agreement.accept', 'Accepted version 1 of the agreement']])
})

test('W02: there are no keys before the agreement is accepted, and nothing is left of the try', async (t) => {
  const world = await somePortal(t)
  const { companyId, path } = await newCompany(world)
  const owner = await world.signInAs({ companyId }, 'owner')

  const refused = await owner.post(`${path}/key_pairs`)

  assert.deepEqual([refused.status, refused.body.code], [403, 'agreement_not_accepted'])
  assert.match(refused.body.errors, /^Developer API agreement not accepted/)
  assert.equal(await countOf(world, 'key_pair'), 0)
  assert.deepEqual(await actionsOf(owner, path), [])
})

test('a new version of the agreement asks again, and keys go on working until the day that the page names', async (t) => {
  const { world, vendor, owner, path } = await someOwner(t)
  const enforcedAt = new Date(Date.now() + 86_400_000)
  await publishAgreement(world.pool, { version: 2, body: 'The second.', enforcedAt })

  const page = read<Record<string, unknown>>(await owner.get(`${path}/agreement`))

  assert.deepEqual(
    [page.current_version, page.accepted_version, page.is_in_force, page.required_at, page.body],
    [2, 1, true, enforcedAt.toISOString(), 'The second.'],
  )
  const { required_now, accepted_by, accepted_at } = page
  assert.deepEqual([(required_now as { version: number }).version, accepted_by], [1, 'Owner'])
  assert.ok(Date.parse(String(accepted_at)) <= Date.now())
  assert.equal((await vendor.get('/organizations')).status, 200)
})

test('W03: an owner whose role was taken away in another tab accepts nothing any more', async (t) => {
  const world = await somePortal(t)
  const { companyId, path } = await newCompany(world)
  const owner = await world.signInAs({ companyId }, 'owner')
  const heir = await world.signInAs({ companyId }, 'admin')
  assert.equal((await owner.get(`${path}/agreement`)).status, 200)
  const { data } = read<{ data: { id: string; is_you: boolean }[] }>(await heir.get(`/tenants/${companyId}/members`))
  const member_id = data.find((each) => each.is_you)?.id
  read(await owner.post(`/tenants/${companyId}/ownership`, { member_id }))

  const refused = await owner.post(`${path}/agreement/acceptance`, { version: 1 })

  assert.deepEqual([refused.status, refused.body.code], [403, 'role_denied'])
  assert.equal(await countOf(world, 'agreement_acceptance'), 0)
})

test('W24: ownership handed over while the agreement is being accepted ends in one consistent state, with both on record', async (t) => {
  const world = await somePortal(t)
  for (let round = 0; round < 3; round += 1) {
    const { companyId, path } = await newCompany(world)
    const owner = await world.signInAs({ companyId }, 'owner')
    const heir = await world.signInAs({ companyId }, 'member')
    const { data } = read<{ data: { id: string; is_you: boolean }[] }>(await heir.get(`/tenants/${companyId}/members`))
    const member_id = data.find((each) => each.is_you)?.id

    const [accepted, handed] = await Promise.all([
      owner.post(`${path}/agreement/acceptance`, { version: 1 }),
      owner.post(`/tenants/${companyId}/ownership`, { member_id }),
    ])

    assert.equal(handed.status, 200, handed.text)
    assert.ok(accepted.status === 200 || accepted.body.code === 'role_denied', accepted.text)
    const standing = read<{ accepted_version: number | null; accepted_by: string | null }>(
      await heir.get(`${path}/agreement`),
    )
    const isAccepted = accepted.status === 200
    assert.deepEqual([standing.accepted_version, standing.accepted_by], isAccepted ? [1, 'First'] : [null, null])
    const events = (await actionsOf(heir, path)).map(([action]) => action)
    assert.deepEqual(events.sort(), [...(isAccepted ? ['agreement.accept'] : []), 'ownership.transfer'])
    const { rows } = await world.pool.query(`select from membership where company_id = $1 and role = 'owner'`, [
      companyId,
    ])
    assert.equal(rows.length, 1)
  }
})
