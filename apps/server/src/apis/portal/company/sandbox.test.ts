import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PortalAnswers } from '@bridgework/contract/portal'
import { someDemoPractices } from '../../../sandbox/testing/test-demo-practices.ts'
import { read } from '../testing/test-company.ts'
import { somePortal } from '../testing/test-portal.ts'

test('people of a company see and drive its own sandbox: records, access and faults; a member only sees it', async (t) => {
  const { practices, start } = someDemoPractices()
  const world = await somePortal(t, { practices })
  const vendor = await world.addVendor()
  await start(t, world)
  const owner = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  const path = `/companies/${vendor.companyId}/sandbox`
  const state = async () => read<PortalAnswers['getSandbox']>(await owner.get(path)).data ?? assert.fail('no practice')
  const act = async (body: object) =>
    read<PortalAnswers['driveSandbox']>(await owner.post(`${path}/actions`, body)).rows

  assert.partialDeepStrictEqual(await state(), { practice: { is_own: true, silent_until: null }, fault: null })
  assert.equal(await act({ action: 'change', records: 5 }), 5)
  assert.equal(await act({ action: 'fault', fault: '503', requests: 2 }), 0)
  assert.equal((await vendor.get('/locations')).status, 503)
  assert.deepEqual((await state()).fault, { fault: '503', requests_left: 1 })
  await act({ action: 'clear_faults' })
  await act({ action: 'end_grant' })
  assert.deepEqual((await vendor.get('/locations')).body.data, [])
  assert.deepEqual((await state()).practice.datasets_granted, [])
  await act({ action: 'give_grant' })
  assert.equal((await vendor.get('/locations')).body.data.length, 3)

  for (const wrong of [{ action: 'explode' }, { action: 'change', records: 501 }, { action: 'reset', more: 1 }]) {
    const answer = await owner.post(`${path}/actions`, wrong)
    assert.deepEqual([answer.status, answer.body.code], [422, 'field_invalid'])
  }
  const member = await world.signInAs({ companyId: vendor.companyId }, 'member')
  assert.equal((await member.get(path)).status, 200)
  assert.equal((await member.post(`${path}/actions`, { action: 'reset' })).body.code, 'role_denied')

  const late = await world.addVendor()
  const stranger = await world.signInAs({ companyId: late.companyId }, 'owner')
  assert.equal((await stranger.get(path)).body.code, 'company_unknown')
  assert.equal((await stranger.post(`${path}/actions`, { action: 'reset' })).body.code, 'company_unknown')
  const itsOwn = `/companies/${late.companyId}/sandbox`
  assert.deepEqual(read(await stranger.get(itsOwn)), { data: null })
  const refused = await stranger.post(`${itsOwn}/actions`, { action: 'clear_faults' })
  assert.deepEqual([refused.status, refused.body.code], [404, 'sandbox_practice_unknown'])
})

test('in production the portal has no sandbox to see or to drive', async (t) => {
  const world = await somePortal(t, { environment: 'production', practices: someDemoPractices().practices })
  const vendor = await world.addVendor()
  const owner = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  const path = `/companies/${vendor.companyId}/sandbox`
  for (const answer of [await owner.get(path), await owner.post(`${path}/actions`, { action: 'clear_faults' })])
    assert.deepEqual([answer.status, answer.body.code], [404, 'route_unknown'])
})
