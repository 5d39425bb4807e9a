import { requireText, violates } from './field.ts'
import type { CompanyId, MemberId } from './identity.ts'
import { newUuid } from './identity.ts'
import type { Queryable } from './queryable.ts'
import { Refusal } from './refusal.ts'

export type MemberRole = 'owner' | 'admin' | 'member'

/** A person who acts for a vendor company. Every company has one owner. */
export type Member = {
  id: MemberId
  companyId: CompanyId
  email: string
  name: string
  role: MemberRole
  createdAt: Date
}

/** Adds a member. Throws a Refusal when the company does not exist, has this e-mail address already, or has an owner and gets another. */
export async function addMember(
  db: Queryable,
  member: { companyId: CompanyId; email: string; name: string; role: MemberRole },
): Promise<Member> {
  const email = requireEmail(member.email)
  const name = requireText(member.name, 'the name of a member')
  try {
    const { rows } = await db.query<MemberRow>(
      `insert into member (id, company_id, email, name, role)
       values ($1, $2, $3, $4, $5)
       returning ${columns}`,
      [newUuid<MemberId>(), member.companyId, email, name, member.role],
    )
    if (!rows[0]) throw new Error('the member was not stored')
    return toMember(rows[0])
  } catch (error) {
    if (violates(error, 'member_email')) {
      throw new Refusal('member_exists', 'This e-mail address belongs to a member of the company already.')
    }
    if (violates(error, 'member_one_owner')) {
      throw new Refusal('owner_exists', 'The company has an owner already: a company has exactly one.')
    }
    if (violates(error, 'member_company_id_fkey')) {
      throw new Refusal('company_unknown', `There is no company ${member.companyId}.`)
    }
    throw error
  }
}

/** A company's members, the owner first, then by e-mail address. */
export async function listMembers(db: Queryable, companyId: CompanyId): Promise<Member[]> {
  const { rows } = await db.query<MemberRow>(
    `select ${columns}
       from member
      where company_id = $1
      order by role <> 'owner', lower(email)`,
    [companyId],
  )
  return rows.map(toMember)
}

/** The owner of a company. */
export async function getOwner(db: Queryable, companyId: CompanyId): Promise<Member> {
  const owner = (await listMembers(db, companyId)).find((member) => member.role === 'owner')
  if (!owner) throw new Error(`company ${companyId} has no owner`)
  return owner
}

/** The member of this company; throws a Refusal when there is none. The row stays locked, so a role that is checked cannot change meanwhile. */
export async function requireMember(client: Queryable, companyId: CompanyId, memberId: MemberId): Promise<Member> {
  const { rows } = await client.query<MemberRow>(
    `select ${columns}
       from member
      where id = $1 and company_id = $2
        for share`,
    [memberId, companyId],
  )
  if (!rows[0]) throw new Refusal('member_unknown', 'The company has no such member.')
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

/** A glance, not a proof: only a message that arrives shows that an address works. */
export function requireEmail(text: string): string {
  const email = text.trim()
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) || email.length > 254) {
    throw new Refusal('field_invalid', 'The e-mail address of a member is not an e-mail address.')
  }
  return email
}
