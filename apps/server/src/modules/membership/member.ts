import type { MemberRole } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { requireText, violates } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type CompanyId, type MemberId, newUuid } from '../../platform/identity/identity.ts'
import { parseTenantId, type Tenant, tenantIdOf } from './tenant.ts'

/** A person who acts for a tenant. `userId` null: invited, and has not accepted yet. */
export type Member = {
  id: MemberId
  tenant: Tenant
  userId: string | null
  email: string
  name: string
  role: MemberRole
  createdAt: Date
}

/** Adds a person. Throws a Problem when the tenant does not exist, has this e-mail address already, or has an owner and gets another. */
export async function addMember(
  db: Queryable,
  tenant: Tenant,
  member: { email: string; name: string; role: MemberRole },
): Promise<Member> {
  const { side } = tenant
  try {
    const { rows } = await db.query<MemberRow>(
      `insert into membership (id, side, company_id, organization_id, email, name, role)
       values ($1, $2, $3, $4, $5, $6, $7)
       returning ${columns}`,
      [
        newUuid<MemberId>(),
        side,
        side === 'company' ? tenant.id : null,
        side === 'organization' ? tenant.id : null,
        requireEmail(member.email),
        requireText(member.name, 'the name of a member'),
        member.role,
      ],
    )
    if (!rows[0]) throw new Error('the member was not stored')
    return toMember(rows[0])
  } catch (error) {
    if (violates(error, 'membership_email')) {
      throw new Problem('member_exists', { errors: `This e-mail address already belongs to a member of the ${side}.` })
    }
    if (violates(error, 'membership_one_owner')) {
      throw new Problem('owner_exists', { errors: `The ${side} has an owner already. Transfer ownership instead.` })
    }
    if (side !== 'operator' && violates(error, `membership_${side}_id_fkey`)) {
      throw new Problem(`${side}_unknown`, { errors: `There is no ${side} ${tenant.id}.` })
    }
    throw error
  }
}

/** A tenant's members, the owner first, then by e-mail address. */
export async function listMembers(db: Queryable, tenant: Tenant): Promise<Member[]> {
  return await select(db, `tenant_id = $1 order by role <> 'owner', lower(email)`, tenantIdOf(tenant))
}

/** The member of any tenant; null when there is none, or they were removed. */
export async function findMember(db: Queryable, id: MemberId): Promise<Member | null> {
  return (await select(db, 'id = $1', id))[0] ?? null
}

/** What a person is in a tenant; null where they do not belong. */
export async function findMemberOf(db: Queryable, tenant: Tenant, userId: string): Promise<Member | null> {
  return (await select(db, 'tenant_id = $1 and user_id = $2', tenantIdOf(tenant), userId))[0] ?? null
}

/** All that a person is a member of. */
export async function listMembershipsOfPerson(db: Queryable, userId: string): Promise<Member[]> {
  return await select(db, 'user_id = $1 order by id', userId)
}

/** The member of this tenant. The row stays locked, so a role that is checked cannot change meanwhile. Throws a Problem when there is none. */
export async function requireMember(client: Queryable, tenant: Tenant, id: MemberId): Promise<Member> {
  const [member] = await select(client, 'tenant_id = $1 and id = $2 for share', tenantIdOf(tenant), id)
  if (!member) throw new Problem('member_unknown')
  return member
}

/** The owner of a company or organization; null while it has none. */
export async function findOwner(db: Queryable, tenant: Tenant): Promise<Member | null> {
  const [owner] = await select(db, `tenant_id = $1 and role = 'owner'`, tenantIdOf(tenant))
  return owner ?? null
}

/** The owner of a company. */
export async function getOwner(db: Queryable, companyId: CompanyId): Promise<Member> {
  const [owner] = await select(db, `tenant_id = $1 and role = 'owner'`, companyId)
  if (!owner) throw new Error(`company ${companyId} has no owner`)
  return owner
}

/** What the members of a company are called, those who were removed too: for what they did. */
export async function memberNames(db: Queryable, companyId: CompanyId): Promise<Map<MemberId, string>> {
  const { rows } = await db.query<{ id: MemberId; name: string }>(
    'select id, name from membership where tenant_id = $1',
    [companyId],
  )
  return new Map(rows.map((row) => [row.id, row.name]))
}

/** Makes a person who was invited an active member. False when somebody has accepted already, or the member was removed. */
export async function activateMember(db: Queryable, id: MemberId, userId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'update membership set user_id = $2 where id = $1 and user_id is null and removed_at is null',
    [id, userId],
  )
  return rowCount === 1
}

/** Gives a person another name wherever they are a member. */
export async function renameMember(db: Queryable, userId: string, name: string): Promise<void> {
  await db.query('update membership set name = $2 where user_id = $1', [userId, name])
}

/**
 * Gives a person another address wherever they are a member, and to invitations that the old address has not accepted: their links keep
 * working. Throws a Problem where a company or practice has the new address already.
 */
export async function changeMemberEmail(
  db: Queryable,
  userId: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  try {
    await db.query(
      `update membership set email = $3
        where removed_at is null and (user_id = $1 or (user_id is null and lower(email) = $2))`,
      [userId, from, to],
    )
  } catch (error) {
    if (violates(error, 'membership_email')) {
      throw new Problem('member_exists', {
        errors:
          'A company or practice of yours lists this address already. Ask its owner to remove it from the members, then open the link again.',
      })
    }
    throw error
  }
}

/** A quick check, not a proof: only a message that arrives shows that an address works. Throws a Problem. */
export function requireEmail(text: string): string {
  const email = text.trim()
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) || email.length > 254) {
    throw new Problem('field_invalid', { errors: 'This is not an e-mail address. Enter one like name@example.com.' })
  }
  return email
}

const columns = 'id, tenant_id, user_id, email, name, role, created_at'

/** Members who were not removed. `where`: the condition, and what follows it. */
async function select(db: Queryable, where: string, ...values: string[]): Promise<Member[]> {
  const { rows } = await db.query<MemberRow>(
    `select ${columns} from membership where removed_at is null and ${where}`,
    values,
  )
  return rows.map(toMember)
}

type MemberRow = RowOf<StoredMember>
type StoredMember = Omit<Member, 'tenant'> & { tenantId: string }

function toMember(row: MemberRow): Member {
  const { tenantId, ...member } = fromRow<StoredMember>(row)
  const tenant = parseTenantId(tenantId)
  if (!tenant) throw new Error(`membership ${member.id} has no tenant`)
  return { ...member, tenant }
}
