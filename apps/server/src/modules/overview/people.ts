import type { MemberRole, Side } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { containing, queryPage } from '../../platform/database/search.ts'
import { Problem } from '../../platform/errors/problem.ts'

/** Somebody who has an account, as the operator sees them. */
export type PersonEntry = {
  id: string
  name: string
  email: string
  createdAt: Date
  hasSecondFactor: boolean
  memberships: { side: Side; id: string; name: string; role: MemberRole }[]
}

/** A part of the people by name. `search` looks in name and address. */
export async function pageOfPeople(
  db: Queryable,
  page: { search: string; limit: number; offset: number },
): Promise<{ total: number; people: PersonEntry[] }> {
  const { total, rows } = await queryPage<PersonEntry>(
    db,
    `${entries} where concat_ws(E'\\n', u.name, u.email) ilike $1`,
    'lower(name), id',
    page,
    [containing(page.search)],
  )
  return { total, people: rows }
}

/** One of them. Throws a Problem when there is none. */
export async function requirePersonEntry(db: Queryable, id: string | null): Promise<PersonEntry> {
  const { rows } = await db.query<PersonEntry>(`${entries} where u.id = $1`, [id])
  if (!rows[0]) throw new Problem('person_unknown')
  return rows[0]
}

const entries = `select u.id, u.name, u.email, u.created_at as "createdAt",
            coalesce(u.two_factor_enabled, false)
              or exists (select 1 from portal_passkey p where p.user_id = u.id) as "hasSecondFactor",
            (select coalesce(json_agg(json_build_object('side', m.side, 'id', m.tenant_id, 'role', m.role,
                                                        'name', coalesce(c.name, o.name, 'Operator'))
                                      order by m.side, coalesce(c.name, o.name), m.tenant_id), '[]')
               from membership m
               left join company c on c.id = m.company_id
               left join organization o on o.id = m.organization_id
              where m.user_id = u.id and m.removed_at is null) as memberships
       from portal_user u`
