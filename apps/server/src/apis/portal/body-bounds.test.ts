import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PortalRouteName, portalApiPath, portalBodies, portalRoutes } from '@bridgework/contract/portal'
import { somePortal } from './testing/test-portal.ts'

/** In KiB: 200,000 characters in any script, an image in base64, every dataset of 1,000 locations, and 1,000 locations. Any other body: 64. */
const largestOf: Partial<Record<PortalRouteName, number>> = {
  publishAgreement: 640,
  setCompanyLogo: 128,
  changeVendorAccess: 1024,
  grantVendorRequest: 128,
}

test('each route takes a body of so many bytes and no larger one', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const { organizationId } = location
  const { companyId } = await world.addVendor([location])
  const owner = await world.signInAs({ organizationId }, 'owner')
  const callers: Record<string, typeof owner> = {
    companies: await world.signInAs({ companyId }, 'owner'),
    operator: await world.signInAs('operator', 'admin'),
  }
  const ids: Record<string, string> = {
    organization_id: organizationId,
    tenant_id: organizationId,
    company_id: companyId,
  }
  for (const name of Object.keys(portalBodies) as PortalRouteName[]) {
    const { method, path } = portalRoutes[name]
    const { cookie, csrfToken } = callers[path.split('/')[1] ?? ''] ?? owner
    const url = `${portalApiPath}${path.replace(/:(\w+)/g, (_, id: string) => ids[id] ?? 'x')}`
    const headers = {
      cookie,
      origin: 'http://localhost',
      'x-csrf-token': await csrfToken(),
      'content-type': 'application/json',
    }
    // No route's body is a list, so none does anything.
    const send = (bytes: number) => world.request(url, { method, headers, body: `[${' '.repeat(bytes - 2)}]` })
    const bytesMax = (largestOf[name] ?? 64) * 1024
    const [largest, larger] = [await send(bytesMax), await send(bytesMax + 1)]
    assert.deepEqual([largest.status, largest.body.code], [422, 'field_invalid'], `${name}: ${largest.text}`)
    assert.deepEqual([larger.status, larger.body.code], [413, 'body_too_large'], `${name}: ${larger.text}`)
  }
})
