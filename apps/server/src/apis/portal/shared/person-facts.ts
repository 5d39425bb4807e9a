import type { Pool } from 'pg'
import { listMembershipsOf } from '../../../modules/overview/tenants.ts'

/** What a person's password must not contain: their name, their address, their companies and practices. */
export async function factsOf(pool: Pool, person: { id: string; name: string; email: string }): Promise<string[]> {
  const memberships = await listMembershipsOf(pool, person.id)
  const tenants = memberships.filter(({ side }) => side !== 'operator').map(({ name }) => name)
  return [person.name, person.email, ...tenants]
}
