import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type CompanyId, newUuid } from '../../platform/identity/identity.ts'
import { claimCompanyName, nameKey } from './name.ts'

/**
 * States of a company: active ⇄ suspended (the operator's pause: nothing of it works, nothing is lost); either → closed, for ever.
 */
export const companyStates = ['active', 'suspended', 'closed'] as const
export type CompanyState = (typeof companyStates)[number]

/** A software vendor. */
export type Company = {
  id: CompanyId
  name: string
  state: CompanyState
  createdAt: Date
  /** When an operator verified who the company is; null: not yet, or no longer. */
  verifiedAt: Date | null
}

/** Makes a company. It has no owner yet: `createCompany` of the memberships makes both. Throws a Problem, as `claimCompanyName` does. */
export async function insertCompany(db: Queryable, text: string): Promise<Company> {
  const { name, key } = await claimCompanyName(db, text, null)
  const { rows } = await db.query<CompanyRow>(
    `insert into company (id, name, name_key) values ($1, $2, $3) returning ${columns}`,
    [newUuid<CompanyId>(), name, key],
  )
  if (!rows[0]) throw new Error('the company was not stored')
  return toCompany(rows[0])
}

/**
 * Gives a company another name: no other company gets the former one for a year, and the operator's verification ends, because it was of that name.
 * Returns both names. Hand down a transaction. Throws a Problem, as `claimCompanyName` does.
 */
export async function renameCompany(
  client: Queryable,
  id: CompanyId,
  text: string,
): Promise<{ name: string; former: string }> {
  const { name: former } = await lockCompany(client, id)
  const { name, key } = await claimCompanyName(client, text, id)
  if (name === former) return { name, former }
  await client.query('insert into company_former_name (company_id, name, name_key) values ($1, $2, $3)', [
    id,
    former,
    nameKey(former),
  ])
  await client.query(
    'update company set name = $2, name_key = $3, verified_at = null, verified_by = null where id = $1',
    [id, name, key],
  )
  return { name, former }
}

/** A name that a company had, and until when. */
export type FormerName = { companyId: CompanyId; name: string; formerName: string; usedUntil: Date }

/** The renames of these companies within 30 days, which practices are shown; the latest first. */
export async function listRenames(db: Queryable, companyIds: readonly CompanyId[]): Promise<FormerName[]> {
  const { rows } = await db.query<RowOf<FormerName>>(
    `select c.id as company_id, c.name, f.name as former_name, f.used_until
       from company_former_name f
       join company c on c.id = f.company_id
      where c.id = any($1::uuid[]) and f.used_until > now() - interval '30 days' and f.name <> c.name
      order by f.used_until desc`,
    [companyIds],
  )
  return rows.map((row) => fromRow<FormerName>(row))
}

/** Notes that an operator verified who the company is, or that this no longer holds. `by`: who, for the other operators. */
export async function setCompanyVerified(client: Queryable, id: CompanyId, by: string | null): Promise<Company> {
  await lockCompany(client, id)
  const { rows } = await client.query<CompanyRow>(
    `with moment as (select clock_timestamp() as at)
     update company
        set verified_at = case when $2::text is not null then coalesce(verified_at, moment.at) end,
            verified_by = case when $2::text is not null then coalesce(verified_by, $2) end
       from moment
      where id = $1
      returning ${columns}`,
    [id, by],
  )
  if (!rows[0]) throw new Error('a locked company is gone')
  return toCompany(rows[0])
}

/** Every company, by name. */
export async function listCompanies(db: Queryable): Promise<Company[]> {
  const { rows } = await db.query<CompanyRow>(`select ${columns} from company order by lower(name), id`)
  return rows.map(toCompany)
}

/** The name of the sandbox's own vendor. A company cannot take a name that another one has. */
export const demoVendorName = 'Demo Vendor'

/** The names of these companies, by id. */
export async function companyNames(db: Queryable, ids: readonly CompanyId[]): Promise<Map<CompanyId, string>> {
  const { rows } = await db.query<{ id: CompanyId; name: string }>(
    'select id, name from company where id = any($1::uuid[])',
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row.name]))
}

export async function findCompany(db: Queryable, id: CompanyId): Promise<Company | null> {
  const { rows } = await db.query<CompanyRow>(`select ${columns} from company where id = $1`, [id])
  return rows[0] ? toCompany(rows[0]) : null
}

/** The company; throws a Problem when there is none. */
export async function requireCompany(db: Queryable, id: CompanyId): Promise<Company> {
  const company = await findCompany(db, id)
  if (!company) throw new Problem('company_unknown', { errors: `There is no company ${id}.` })
  return company
}

/** Throws Problem company_closed, for the company's people, unless it is active: a suspended company changes nothing. */
export async function requireActiveCompany(db: Queryable, id: CompanyId): Promise<void> {
  const { name, state } = await requireCompany(db, id)
  if (state === 'active') return
  const errors = `The company ${name} is ${state}, so nothing of it can be changed.`
  throw new Problem('company_closed', { errors: state === 'suspended' ? `${errors} Ask the operator why.` : errors })
}

/**
 * The company, held until the transaction ends, so that changes of its key pair and of its people take turns. Throws a Problem when there
 * is none, or it was erased.
 */
export async function lockCompany(client: Queryable, id: CompanyId): Promise<Company> {
  return await holdCompany(client, id, 'no key update')
}

/** The same for those who change what the company gets from others, as many at once as come: it is not erased meanwhile. After `lockOrganization`. */
export async function shareCompany(client: Queryable, id: CompanyId): Promise<Company> {
  return await holdCompany(client, id, 'share')
}

async function holdCompany(client: Queryable, id: CompanyId, lock: 'no key update' | 'share'): Promise<Company> {
  const { rows } = await client.query<CompanyRow & { erased_at: Date | null }>(
    `select ${columns}, erased_at from company where id = $1 for ${lock}`,
    [id],
  )
  if (!rows[0]) throw new Problem('company_unknown', { errors: `There is no company ${id}.` })
  const { name, erased_at: erasedAt } = rows[0]
  if (erasedAt !== null) {
    const on = erasedAt.toISOString().slice(0, 10)
    throw new Problem('company_closed', { errors: `The company ${name} was erased on ${on}. Create a new one.` })
  }
  return toCompany(rows[0])
}

/** From the next request on the company's tokens are refused, and it gets no new ones. Its grants and key pair are kept. */
export async function suspendCompany(db: Queryable, id: CompanyId): Promise<Company> {
  return await changeState(db, id, 'suspended')
}

export async function resumeCompany(db: Queryable, id: CompanyId): Promise<Company> {
  return await changeState(db, id, 'active')
}

/** As suspended, and never to be resumed. */
export async function closeCompany(db: Queryable, id: CompanyId): Promise<Company> {
  return await changeState(db, id, 'closed')
}

async function changeState(db: Queryable, id: CompanyId, state: CompanyState): Promise<Company> {
  const { rows } = await db.query<CompanyRow>(
    `update company
        set state = $2
      where id = $1 and (state <> 'closed' or $2 = 'closed')
      returning ${columns}`,
    [id, state],
  )
  if (rows[0]) return toCompany(rows[0])
  const company = await requireCompany(db, id)
  throw new Problem('company_closed', {
    errors: `The company ${company.name} is closed. A closed company cannot be resumed.`,
  })
}

const columns = 'id, name, state, created_at, verified_at'

type CompanyRow = { id: CompanyId; name: string; state: CompanyState; created_at: Date; verified_at: Date | null }

function toCompany(row: CompanyRow): Company {
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    createdAt: row.created_at,
    verifiedAt: row.verified_at,
  }
}
