import type { Queryable } from '../../platform/database/queryable.ts'
import { requireText, violates } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type CompanyId, type MemberId, newUuid, type OrganizationId } from '../../platform/identity/identity.ts'

export type MemberRole = 'owner' | 'admin' | 'member'

/** Whom people act for. Each company and organization has exactly one owner; everybody of the operator is one. */
export type Tenant =
  | { side: 'company'; id: CompanyId }
  | { side: 'organization'; id: OrganizationId }
  | { side: 'operator'; id: null }

/** A person who acts for a tenant. `userId` null: was invited and has not come yet. */
export type TenantMember = {
  id: MemberId
  userId: string | null
  email: string
  name: string
  role: MemberRole
  createdAt: Date
}

/** What a tenant is called. */
export async function nameOfTenant(db: Queryable, tenant: Tenant): Promise<string> {
  if (tenant.side === 'operator') return 'Bridgework'
  const { rows } = await db.query<{ name: string }>(`select name from ${tenant.side} where id = $1`, [tenant.id])
  if (!rows[0]) throw new Error(`there is no ${tenant.side} ${tenant.id}`)
  return rows[0].name
}

/** The people of a tenant, the owner first, then by e-mail address. */
export async function listTenantMembers(db: Queryable, tenant: Tenant): Promise<TenantMember[]> {
  const { rows } = await db.query<MemberRow>(
    `select ${columnsOf(tenant)}
       from ${tables[tenant.side]}
      where ${isOf(tenant)} and removed_at is null
      order by ${roleOf(tenant)} <> 'owner', lower(email)`,
    [tenant.id],
  )
  return rows.map(toTenantMember)
}

/** Adds a person. Throws a Problem when the address is there already, or when there would be a second owner. */
export async function insertMember(
  db: Queryable,
  tenant: Tenant,
  member: { email: string; name: string; role: MemberRole },
): Promise<TenantMember> {
  const table = tables[tenant.side]
  const values = [newUuid<MemberId>(), requireEmail(member.email), requireText(member.name, 'the name of a member')]
  const [columns, places, more] =
    tenant.side === 'operator' ? ['', '', []] : [`, ${tenant.side}_id, role`, ', $4, $5', [tenant.id, member.role]]
  try {
    const { rows } = await db.query<MemberRow>(
      `insert into ${table} (id, email, name${columns}) values ($1, $2, $3${places}) returning ${columnsOf(tenant)}`,
      [...values, ...more],
    )
    if (!rows[0]) throw new Error('the member was not stored')
    return toTenantMember(rows[0])
  } catch (error) {
    if (violates(error, `${table}_email`)) {
      throw new Problem('member_exists', {
        errors: `This e-mail address already belongs to a member of the ${tenant.side}.`,
      })
    }
    if (violates(error, `${table}_one_owner`)) {
      throw new Problem('owner_exists', {
        errors: `The ${tenant.side} has an owner already. Transfer ownership instead.`,
      })
    }
    throw error
  }
}

/** What an owner or admin adds. Like all that change the members of a tenant it takes a turn, and reads the role of who does it within. */
export async function addTenantMember(
  client: Queryable,
  tenant: Tenant,
  by: MemberId,
  member: { email: string; name: string; role: MemberRole },
): Promise<TenantMember> {
  await takeMembersTurn(client, tenant, by)
  return await insertMember(client, tenant, member)
}

/** Gives a member another role. Throws a Problem for the owner, whose role can only be handed over. */
export async function changeMemberRole(
  client: Queryable,
  tenant: Exclude<Tenant, { side: 'operator' }>,
  by: MemberId,
  change: { memberId: MemberId; role: 'admin' | 'member' },
): Promise<TenantMember> {
  await takeMembersTurn(client, tenant, by)
  const member = await requireTenantMember(client, tenant, change.memberId)
  if (member.role === 'owner') {
    throw new Problem('owner_stays', {
      errors: 'The role of the owner cannot be changed. Transfer ownership to another member first.',
    })
  }
  await client.query(`update ${tables[tenant.side]} set role = $2 where id = $1`, [member.id, change.role])
  return { ...member, role: change.role }
}

/**
 * Ends what a member may do, from the next request on. What they did keeps their name. Throws a Problem for the owner of a company or an
 * organization, and for the last operator who can sign in: nobody would be left.
 */
export async function removeTenantMember(
  client: Queryable,
  tenant: Tenant,
  by: MemberId,
  memberId: MemberId,
): Promise<TenantMember> {
  await takeMembersTurn(client, tenant, by)
  const member = await requireTenantMember(client, tenant, memberId)
  if (tenant.side === 'operator') {
    const others = (await listTenantMembers(client, tenant)).filter((each) => each.id !== memberId && each.userId)
    if (others.length === 0) throw new Problem('last_operator')
  } else if (member.role === 'owner') {
    throw new Problem('owner_stays', {
      errors: 'The owner cannot be removed. Transfer ownership to another member first.',
    })
  }
  await client.query(`update ${tables[tenant.side]} set removed_at = clock_timestamp(), user_id = null where id = $1`, [
    member.id,
  ])
  return member
}

/** A member who was invited and has not come yet. Throws a Problem for one who has. */
export async function requireInvitedMember(
  client: Queryable,
  tenant: Tenant,
  by: MemberId,
  memberId: MemberId,
): Promise<TenantMember> {
  await takeMembersTurn(client, tenant, by)
  const member = await requireTenantMember(client, tenant, memberId)
  if (member.userId !== null) throw new Problem('member_active')
  return member
}

/** Makes an active member the owner, and the owner an admin. Throws a Problem. */
export async function transferOwnership(
  client: Queryable,
  tenant: Exclude<Tenant, { side: 'operator' }>,
  by: MemberId,
  memberId: MemberId,
): Promise<TenantMember> {
  const actor = await takeMembersTurn(client, tenant, by)
  if (actor.role !== 'owner') throw new Problem('role_denied', { errors: 'Only the owner can transfer ownership.' })
  const heir = await requireTenantMember(client, tenant, memberId)
  if (heir.id === actor.id)
    throw new Problem('owner_exists', { errors: 'You are already the owner. Choose another member.' })
  if (heir.userId === null) {
    throw new Problem('member_not_active')
  }
  const update = `update ${tables[tenant.side]} set role = $2 where id = $1`
  // In this order: there is never a moment with two owners, which the index would refuse.
  await client.query(update, [actor.id, 'admin'])
  await client.query(update, [heir.id, 'owner'])
  return { ...heir, role: 'owner' }
}

const tables = { company: 'member', organization: 'organization_member', operator: 'operator_member' } as const

/**
 * One change of a tenant's members after the other, so that of two that are right alone but not together the second is refused. The row of the
 * tenant is locked before any member's.
 */
async function takeMembersTurn(client: Queryable, tenant: Tenant, by: MemberId): Promise<TenantMember> {
  if (tenant.side === 'operator') await client.query('lock table operator_member in share row exclusive mode')
  else await client.query(`select from ${tenant.side} where id = $1 for no key update`, [tenant.id])
  const actor = await findTenantMember(client, tenant, by)
  if (!actor || actor.role === 'member') {
    throw new Problem('role_denied', {
      errors: 'Only an owner or an admin can add, change or remove members. Ask one of them.',
    })
  }
  return actor
}

async function requireTenantMember(client: Queryable, tenant: Tenant, id: MemberId): Promise<TenantMember> {
  const member = await findTenantMember(client, tenant, id)
  if (!member) throw new Problem('member_unknown')
  return member
}

async function findTenantMember(client: Queryable, tenant: Tenant, id: MemberId): Promise<TenantMember | null> {
  const { rows } = await client.query<MemberRow>(
    `select ${columnsOf(tenant)} from ${tables[tenant.side]} where ${isOf(tenant)} and id = $2 and removed_at is null`,
    [tenant.id, id],
  )
  return rows[0] ? toTenantMember(rows[0]) : null
}

function columnsOf(tenant: Tenant): string {
  return `id, user_id, email, name, ${roleOf(tenant)} as role, created_at`
}

function roleOf(tenant: Tenant): string {
  return tenant.side === 'operator' ? `'owner'` : 'role'
}

/** True for the tenant's rows; `$1` is its id, null for the operator, to whom all of them belong. */
function isOf(tenant: Tenant): string {
  return tenant.side === 'operator' ? '$1::text is null' : `${tenant.side}_id = $1`
}

type MemberRow = {
  id: MemberId
  user_id: string | null
  email: string
  name: string
  role: MemberRole
  created_at: Date
}

function toTenantMember(row: MemberRow): TenantMember {
  return {
    id: row.id,
    userId: row.user_id,
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
    throw new Problem('field_invalid', { errors: 'This is not an e-mail address. Enter one like name@example.com.' })
  }
  return email
}
