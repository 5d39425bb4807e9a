import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { activateMember, addMember, listMembers } from '../modules/membership/member.ts'
import { operator, type Tenant } from '../modules/membership/tenant.ts'
import type { Auth } from '../modules/sign-in/auth.ts'
import { createPerson, hashPassword, isPasswordOf, setPassword } from '../modules/sign-in/create-person.ts'
import { findPersonByEmail } from '../modules/sign-in/store.ts'
import { withTransaction } from '../platform/database/pool.ts'
import type { CompanyId, OrganizationId } from '../platform/identity/identity.ts'
import type { SandboxFile } from './sandbox-file.ts'

/** Somebody of the demo, to sign in to the portal as. */
export type DemoSignIn = SandboxFile['portal_sign_ins'][number]

const people = [
  { role: 'vendor owner', side: 'company', member: 'owner', email: 'owner@vendor.example', name: 'Demo Owner' },
  { role: 'vendor admin', side: 'company', member: 'admin', email: 'admin@vendor.example', name: 'Ada Admin' },
  { role: 'vendor member', side: 'company', member: 'member', email: 'member@vendor.example', name: 'Mel Member' },
  { role: 'practice owner', side: 'organization', member: 'owner', email: 'owner@practice.example', name: 'Pat Owner' },
  {
    role: 'practice admin',
    side: 'organization',
    member: 'admin',
    email: 'admin@practice.example',
    name: 'Alex Admin',
  },
  {
    role: 'practice member',
    side: 'organization',
    member: 'member',
    email: 'member@practice.example',
    name: 'Mo Member',
  },
  { role: 'operator', side: 'operator', member: 'admin', email: 'operator@bridgework.example', name: 'Demo Operator' },
] as const

/**
 * Makes what is missing of the people of the demo: an account each, and what they are in the demo's company, organization or among the
 * operators. A password of an earlier start that still opens is kept, otherwise there is a new one: nobody can look it up.
 */
export async function ensureDemoPeople(
  pool: Pool,
  auth: Auth,
  demo: { companyId: CompanyId; organizationId: OrganizationId },
  known: Partial<SandboxFile>,
): Promise<DemoSignIn[]> {
  return await Promise.all(
    people.map(async (person) => {
      const before = known.portal_sign_ins?.find((each) => each.email === person.email)?.password
      return { role: person.role, email: person.email, password: await ensurePerson(pool, auth, demo, person, before) }
    }),
  )
}

type DemoPerson = (typeof people)[number]

/** Account and membership are made together, once: what a newcomer changes of either later is left alone. */
async function ensurePerson(
  pool: Pool,
  auth: Auth,
  demo: Parameters<typeof ensureDemoPeople>[2],
  person: DemoPerson,
  before: string | undefined,
): Promise<string> {
  const found = await findPersonByEmail(pool, person.email)
  if (found && before !== undefined && (await isPasswordOf(pool, auth, found.userId, before))) return before
  const password = randomBytes(15).toString('base64url')
  const passwordHash = await hashPassword(auth, password)
  if (found) await setPassword(pool, found.userId, passwordHash)
  else {
    await withTransaction(pool, async (client) => {
      const { userId } = await createPerson(client, { ...person, passwordHash })
      const tenant = tenantOf(demo, person)
      const members = await listMembers(client, tenant)
      const member =
        members.find(({ email }) => email === person.email) ??
        (await addMember(client, tenant, { ...person, role: person.member }))
      await activateMember(client, member.id, userId)
    })
  }
  return password
}

function tenantOf(
  { companyId, organizationId }: { companyId: CompanyId; organizationId: OrganizationId },
  { side }: DemoPerson,
): Tenant {
  if (side === 'company') return { side, id: companyId }
  if (side === 'organization') return { side, id: organizationId }
  return operator
}
