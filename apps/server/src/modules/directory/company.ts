import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type CompanyId, newUuid } from '../../platform/identity/identity.ts'
import { claimCompanyName } from './name.ts'

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

/** Gives a company another name, which it returns. Throws a Problem, as `claimCompanyName` does. */
export async function renameCompany(db: Queryable, id: CompanyId, text: string): Promise<string> {
  const { name, key } = await claimCompanyName(db, text, id)
  await db.query('update company set name = $2, name_key = $3 where id = $1', [id, name, key])
  return name
}

/** Every company, by name. */
export async function listCompanies(db: Queryable): Promise<Company[]> {
  const { rows } = await db.query<CompanyRow>(`select ${columns} from company order by lower(name), id`)
  return rows.map(toCompany)
}

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

/**
 * The company, held until the transaction ends, so that changes of its key pair and of its people take turns. Throws a Problem when there
 * is none, or it was erased.
 */
export async function lockCompany(client: Queryable, id: CompanyId): Promise<Company> {
  const { rows } = await client.query<CompanyRow & { erased_at: Date | null }>(
    `select ${columns}, erased_at from company where id = $1 for no key update`,
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
