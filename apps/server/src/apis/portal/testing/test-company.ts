import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createCompany } from '../../../modules/membership/create-tenant.ts'
import type { CompanyId } from '../../../platform/identity/identity.ts'
import type { Answer } from '../../../testing/test-world.ts'
import { type PortalWorld, type SignedIn, somePortal } from './test-portal.ts'

/** A company that has accepted nothing yet. */
export async function newCompany(world: PortalWorld): Promise<{ companyId: CompanyId; path: string }> {
  const { rowCount } = await world.pool.query('select from company')
  const { company } = await createCompany(world.pool, {
    name: `New vendor ${rowCount}`,
    owner: { email: 'first@example.com', name: 'First' },
  })
  return { companyId: company.id, path: `/companies/${company.id}` }
}

/** What an answer of the portal holds, whatever its type: tests read the members that they expect. */
export function read<T>(answer: Answer): T {
  assert.ok(answer.status < 300, answer.text)
  return answer.body as unknown as T
}

/** How many rows a table has. */
export async function countOf(world: PortalWorld, table: string): Promise<number> {
  const { rows } = await world.pool.query<{ count: string }>(`select count(*) from ${table}`)
  return Number(rows[0]?.count)
}

/** What a company’s history tells, the newest first. */
export async function actionsOf(person: SignedIn, path: string): Promise<[string, string][]> {
  const { data } = read<{ data: { action: string; what: string }[] }>(await person.get(`${path}/events`))
  return data.map((event) => [event.action, event.what])
}

/** What the token endpoint answers to a pair. */
export async function tokenFor(
  world: PortalWorld,
  pair: { client_id: string; client_secret: string },
): Promise<Answer> {
  return await world.request('/api/v1/vendors/auth/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(pair),
  })
}

/** A vendor with a live pair, and its owner signed in. */
export async function someOwner(t: TestContext) {
  const world = await somePortal(t)
  const vendor = await world.addVendor()
  const owner = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  return { world, vendor, owner, path: `/companies/${vendor.companyId}` }
}
