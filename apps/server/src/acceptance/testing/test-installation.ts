import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { somePortal } from '../../apis/portal/testing/test-portal.ts'
import { createSecretKey } from '../../modules/credentials/secret.ts'
import { fillTenants } from '../../modules/leaving/testing/test-filled-tenant.ts'
import { passwordHash } from '../../modules/sign-in/password/password-hash.ts'
import { aRecord } from '../../testing/test-world.ts'
import { type Dump, dumpOf, type Known } from './test-upgrade.ts'
import { type Name, walk } from './test-vendor-copy.ts'

/** A practice and a vendor that reads it, with a row in every table that can have one, a key pair, an agent and a session. */
export async function someInstallation(t: TestContext): Promise<Dump> {
  const secretKey = randomBytes(32).toString('base64')
  const world = await somePortal(t, { secretKey: createSecretKey(Buffer.from(secretKey, 'base64')), passwordHash })
  const vendor = await world.addVendor()
  const { location } = await fillTenants(world, vendor)
  const { person, cookie } = await world.signInAs({ organizationId: location.organizationId }, 'owner')
  const lists: Known['lists'] = {}
  for (const name of datasetNames) lists[name] = await walk(vendor, location.id, name as Name, { items: 5000 })
  await world.usage.flush()
  return dumpOf(world, {
    secretKey,
    clientId: vendor.clientId,
    clientSecret: vendor.clientSecret,
    agentKey: location.agent.agentKey,
    agentId: location.agent.agentId,
    locationId: location.id,
    cookie,
    email: person.email,
    sent: JSON.stringify({ source_id: '1', attributes: aRecord('patients') }),
    lists,
  })
}
