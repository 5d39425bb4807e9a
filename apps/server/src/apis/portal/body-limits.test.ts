import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { somePortal } from './testing/test-portal.ts'

const kib = 1024

test('each route takes a body up to its own limit and none that is a byte longer', async (t) => {
  const world = await somePortal(t)
  const { organizationId } = await world.addLocation()
  const { companyId } = await world.addVendor()
  const operator = await world.signInAs('operator', 'admin')
  const practice = await world.signInAs({ organizationId }, 'owner')
  const vendor = await world.signInAs({ companyId }, 'owner')
  const organization = `/organizations/${organizationId}`
  const limits = [
    [operator, 'POST', '/operator/agreements', 640],
    [vendor, 'PUT', `/companies/${companyId}/logo`, 128],
    [practice, 'PUT', `${organization}/vendors/${companyId}/access`, 1024],
    [practice, 'POST', `${organization}/access_requests/${randomUUID()}/grant`, 128],
    [practice, 'PUT', `${organization}/seal_mail`, 64],
  ] as const
  for (const [person, method, path, max] of limits) {
    const send = (bytes: number) => person.send(method, path, { x: 'x'.repeat(bytes - '{"x":""}'.length) })
    const [fits, long] = [await send(max * kib), await send(max * kib + 1)]
    assert.equal(fits.body.code, 'field_invalid', `${path}: ${fits.text}`)
    assert.deepEqual([long.status, long.body.code], [413, 'body_too_large'], path)
  }
})
