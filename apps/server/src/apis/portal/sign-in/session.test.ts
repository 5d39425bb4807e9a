import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portalApiPath } from '@bridgework/contract/portal'
import { somePortal } from '../testing/test-portal.ts'

test('a person who signs in learns what they may act for', async (t) => {
  const world = await somePortal(t)
  const vendor = await world.addVendor()
  const owner = await world.signInAs({ companyId: vendor.companyId }, 'owner')

  const { status, body } = await owner.get('/session')

  assert.equal(status, 200)
  assert.deepEqual((body as unknown as { memberships: unknown }).memberships, [
    {
      ...{ side: 'company', id: vendor.companyId, name: 'Vendor', role: 'owner' },
      ...{ second_factor: null, identity_provider: null, support_until: null },
    },
  ])
})

test('nobody is signed in without a session', async (t) => {
  const world = await somePortal(t)
  const { status, body } = await world.request(`${portalApiPath}/session`)
  assert.equal(status, 401)
  assert.equal(body.code, 'sign_in_required')
})
