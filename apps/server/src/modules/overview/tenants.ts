import type { MemberRole, Side } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { containing, queryPage } from '../../platform/database/search.ts'
import type { MemberId, OrganizationId } from '../../platform/identity/identity.ts'
import { type Company, type CompanyState, companyStates } from '../directory/company.ts'

/** All that a person may act for, with its name and what it asks of sign-ins. */
export async function listMembershipsOf(db: Queryable, userId: string): Promise<MembershipEntry[]> {
  const { rows } = await db.query<MembershipEntry>(
    `select m.id as "memberId", m.side, m.tenant_id as id, coalesce(c.name, o.name, 'Operator') as name, m.role,
            r.second_factor_since as "secondFactorSince", p.id as "providerId", p.name as "providerName",
            p.sign_in_name as "signInName", coalesce(p.is_required, false) as "isProviderRequired"
       from membership m
       left join company c on c.id = m.company_id
       left join organization o on o.id = m.organization_id
       left join sign_in_rule r on r.tenant_id = m.tenant_id
       left join identity_provider p on p.tenant_id = m.tenant_id
      where m.user_id = $1
      order by m.side, name, id`,
    [userId],
  )
  return rows
}

export type MembershipEntry = {
  memberId: MemberId
  side: Side
  id: string
  name: string
  role: MemberRole
  secondFactorSince: Date | null
  isProviderRequired: boolean
} & ({ providerId: string; providerName: string; signInName: string } | { providerId: null })

/** What the operator sees of how the owner and the members sign in. */
type SignInFacts<Email> = { ownerEmail: Email; isSecondFactorRequired: boolean }

/** A part of the companies, by name, each with its owner's address. `search` looks in both; `state` null: all. */
export async function pageOfCompanies(
  db: Queryable,
  page: { search: string; state: CompanyState | null; limit: number; offset: number },
): Promise<{ total: number; companies: (Company & SignInFacts<string>)[] }> {
  const { total, rows } = await queryPage<Company & SignInFacts<string>>(
    db,
    `select c.id, c.name, c.state, c.created_at as "createdAt", m.email as "ownerEmail",
            exists (select from sign_in_rule r where r.tenant_id = m.tenant_id) as "isSecondFactorRequired"
       from company c
       join membership m on m.company_id = c.id and m.role = 'owner'
      where (c.name || ' ' || m.email) ilike $1 and c.state = any($2::text[])`,
    'lower(name), id',
    page,
    [containing(page.search), page.state === null ? companyStates : [page.state]],
  )
  return { total, companies: rows }
}

type OrganizationEntry = SignInFacts<string | null> & {
  id: OrganizationId
  name: string
  createdAt: Date
  locations: number
}

/** A part of the organizations, by name, each with its owner's address, if it has one, and its locations. `search` looks in both texts. */
export async function pageOfOrganizations(
  db: Queryable,
  page: { search: string; limit: number; offset: number },
): Promise<{ total: number; organizations: OrganizationEntry[] }> {
  const { total, rows } = await queryPage<OrganizationEntry>(
    db,
    `select o.id, o.name, o.created_at as "createdAt", m.email as "ownerEmail",
            exists (select from sign_in_rule r where r.tenant_id = o.id::text) as "isSecondFactorRequired",
            (select count(*)::integer from location l where l.organization_id = o.id) as locations
       from organization o
       left join membership m on m.organization_id = o.id and m.role = 'owner'
      where (o.name || ' ' || coalesce(m.email, '')) ilike $1`,
    'lower(name), id',
    page,
    [containing(page.search)],
  )
  return { total, organizations: rows }
}
