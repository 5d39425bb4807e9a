import type { Queryable } from '../../platform/database/queryable.ts'
import { type Company, insertCompany } from '../directory/company.ts'
import { createOrganization } from '../directory/organization.ts'
import { addMember, type Member } from './member.ts'

/** `timeZone`: of an organization, where it is known. */
type NewTenant = { name: string; timeZone?: string | null; owner: { email: string; name: string } }

/** Makes a company together with its owner: hand down a transaction, so that there is never one without. Throws a Problem. */
export async function createCompany(db: Queryable, made: NewTenant): Promise<{ company: Company; owner: Member }> {
  const company = await insertCompany(db, made.name)
  const owner = await addMember(db, { side: 'company', id: company.id }, { ...made.owner, role: 'owner' })
  return { company, owner }
}

/** Makes a company or an organization together with its owner, in the transaction of the caller. Throws a Problem. */
export async function createTenant(
  client: Queryable,
  side: 'company' | 'organization',
  made: NewTenant,
): Promise<Member> {
  if (side === 'company') return (await createCompany(client, made)).owner
  const { id } = await createOrganization(client, {
    name: made.name,
    ...(made.timeZone && { timeZone: made.timeZone }),
  })
  return await addMember(client, { side, id }, { ...made.owner, role: 'owner' })
}
