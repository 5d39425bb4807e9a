import type { Queryable } from '../../platform/database/queryable.ts'
import { violates } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId, MemberId } from '../../platform/identity/identity.ts'
import { insertMember, type MemberRole } from './tenant-member.ts'

/** A person who acts for a vendor company. Every company has one owner. */
export type Member = {
  id: MemberId
  companyId: CompanyId
  email: string
  name: string
  role: MemberRole
  createdAt: Date
}

/** Adds a member. Throws a Problem when the company does not exist, has this e-mail address already, or has an owner and gets another. */
export async function addMember(
  db: Queryable,
  member: { companyId: CompanyId; email: string; name: string; role: MemberRole },
): Promise<Member> {
  try {
    const { userId: _, ...added } = await insertMember(db, { side: 'company', id: member.companyId }, member)
    return { ...added, companyId: member.companyId }
  } catch (error) {
    if (violates(error, 'member_company_id_fkey')) {
      throw new Problem('company_unknown', { errors: `There is no company ${member.companyId}.` })
    }
    throw error
  }
}

/** A company's members, the owner first, then by e-mail address. */
export async function listMembers(db: Queryable, companyId: CompanyId): Promise<Member[]> {
  const { rows } = await db.query<MemberRow>(
    `select ${columns}
       from member
      where company_id = $1 and removed_at is null
      order by role <> 'owner', lower(email)`,
    [companyId],
  )
  return rows.map(toMember)
}

/** What the members of a company are called, those who were removed too: for what they did. */
export async function memberNames(db: Queryable, companyId: CompanyId): Promise<Map<MemberId, string>> {
  const { rows } = await db.query<{ id: MemberId; name: string }>('select id, name from member where company_id = $1', [
    companyId,
  ])
  return new Map(rows.map((row) => [row.id, row.name]))
}

/** The owner of a company. */
export async function getOwner(db: Queryable, companyId: CompanyId): Promise<Member> {
  const owner = (await listMembers(db, companyId)).find((member) => member.role === 'owner')
  if (!owner) throw new Error(`company ${companyId} has no owner`)
  return owner
}

/** The member of this company; throws a Problem when there is none. The row stays locked, so a role that is checked cannot change meanwhile. */
export async function requireMember(client: Queryable, companyId: CompanyId, memberId: MemberId): Promise<Member> {
  const { rows } = await client.query<MemberRow>(
    `select ${columns}
       from member
      where id = $1 and company_id = $2 and removed_at is null
        for share`,
    [memberId, companyId],
  )
  if (!rows[0]) throw new Problem('member_unknown')
  return toMember(rows[0])
}

const columns = 'id, company_id, email, name, role, created_at'

type MemberRow = {
  id: MemberId
  company_id: CompanyId
  email: string
  name: string
  role: MemberRole
  created_at: Date
}

function toMember(row: MemberRow): Member {
  return {
    id: row.id,
    companyId: row.company_id,
    email: row.email,
    name: row.name,
    role: row.role,
    createdAt: row.created_at,
  }
}
