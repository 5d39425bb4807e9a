import type { MemberRole, Side, sortColumns } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { containing, orderOf, queryPage, type Sort } from '../../platform/database/search.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId, MemberId, OrganizationId } from '../../platform/identity/identity.ts'
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

/** What companies are sorted by. */
type CompanyColumn = (typeof sortColumns.companies)[number]

/** What organizations are sorted by. */
type OrganizationColumn = (typeof sortColumns.organizations)[number]

/** What a company says of itself, and who verified it: what the operator verifies it by. */
type IdentityFacts = {
  verifiedBy: string | null
  legalName: string | null
  website: string | null
  contact: string | null
  verifiedDomain: string | null
}

/** A company as the operator sees it. */
export type CompanyEntry = Company & SignInFacts<string> & IdentityFacts

/**
 * A part of the companies, by name or as sorted, each with its owner's address. `search` looks in names, address and domain, and takes an id;
 * `state` and `isVerified` null: all.
 */
export async function pageOfCompanies(
  db: Queryable,
  page: {
    search: string
    state: CompanyState | null
    isVerified: boolean | null
    sort: Sort<CompanyColumn> | null
    limit: number
    offset: number
  },
): Promise<{ total: number; companies: CompanyEntry[] }> {
  const { total, rows } = await queryPage<CompanyEntry>(
    db,
    `${companyEntries}
      where (concat_ws(E'\\n', c.name, m.email, p.legal_name, d.domain) ilike $1 or c.id::text = lower($3))
        and c.state = any($2::text[]) and (c.verified_at is not null) = any($4::boolean[])`,
    orderOf(
      page.sort,
      {
        name: 'lower(name)',
        state: 'state',
        verified: '"verifiedAt"',
        created: '"createdAt"',
      },
      'lower(name), id',
    ),
    page,
    [
      containing(page.search),
      page.state === null ? companyStates : [page.state],
      page.search,
      page.isVerified === null ? [true, false] : [page.isVerified],
    ],
  )
  return { total, companies: rows }
}

/** One of them. Throws a Problem when there is none. */
export async function requireCompanyEntry(db: Queryable, id: CompanyId): Promise<CompanyEntry> {
  const { rows } = await db.query<CompanyEntry>(`${companyEntries} where c.id = $1`, [id])
  if (!rows[0]) throw new Problem('company_unknown')
  return rows[0]
}

const companyEntries = `select c.id, c.name, c.state, c.created_at as "createdAt", m.email as "ownerEmail",
            exists (select 1 from sign_in_rule r where r.tenant_id = m.tenant_id) as "isSecondFactorRequired",
            c.verified_at as "verifiedAt", c.verified_by as "verifiedBy", p.legal_name as "legalName", p.website, p.contact,
            case when d.verified_at is not null then d.domain end as "verifiedDomain"
       from company c
       join membership m on m.company_id = c.id and m.role = 'owner'
       left join company_profile p on p.company_id = c.id
       left join company_domain d on d.company_id = c.id`

type OrganizationEntry = SignInFacts<string | null> & {
  id: OrganizationId
  name: string
  createdAt: Date
  locations: number
}

/** A part of the organizations, by name or as sorted, each with its owner's address, if it has one, and its locations. `search` looks in both texts. */
export async function pageOfOrganizations(
  db: Queryable,
  page: { search: string; sort: Sort<OrganizationColumn> | null; limit: number; offset: number },
): Promise<{ total: number; organizations: OrganizationEntry[] }> {
  const { total, rows } = await queryPage<OrganizationEntry>(
    db,
    `select o.id, o.name, o.created_at as "createdAt", m.email as "ownerEmail",
            exists (select 1 from sign_in_rule r where r.tenant_id = o.id::text) as "isSecondFactorRequired",
            (select count(*)::integer from location l where l.organization_id = o.id) as locations
       from organization o
       left join membership m on m.organization_id = o.id and m.role = 'owner'
      where (o.name || ' ' || coalesce(m.email, '')) ilike $1`,
    orderOf(
      page.sort,
      {
        name: 'lower(name)',
        id: 'id',
        locations: 'locations',
        second_factor: '"isSecondFactorRequired"',
        created: '"createdAt"',
      },
      'lower(name), id',
    ),
    page,
    [containing(page.search)],
  )
  return { total, organizations: rows }
}
