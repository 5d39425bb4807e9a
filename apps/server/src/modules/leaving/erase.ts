import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId, OrganizationId } from '../../platform/identity/identity.ts'
import { companyEndings } from './company-endings.ts'
import type { Endings } from './ending.ts'
import { organizationEndings } from './organization-endings.ts'

/** A practice or a vendor that leaves. */
export type Leaving = { side: 'organization'; id: OrganizationId } | { side: 'company'; id: CompanyId }

/** How many rows of a table a tenant has, and what its erasing does to them; `because`: why they are kept. */
export type Held = { table: string; rows: number; isKept: boolean; because: string | null }

/** Gets the tenant's name. */
type Alongside = (client: Queryable, name: string) => Promise<void>

/** Rows that one transaction deletes: short enough that the writers of other tenants do not notice. */
const sliceRows = 2_000

/** Servers write within a second what they counted. */
const settleMs = 1_500

/** What is left of a tenant, table by table; tables without a row of it are left out. */
export async function countHeld(db: Queryable, leaving: Leaving): Promise<Held[]> {
  const held: Held[] = []
  for (const [table, ending] of Object.entries(endingsOf(leaving))) {
    if (ending.ends === 'none') continue
    const { rows } = await db.query<{ count: string }>(`select count(*) from ${table} where ${ending.rows}`, [
      leaving.id,
    ])
    const isKept = ending.ends === 'kept'
    held.push({ table, rows: Number(rows[0]?.count), isKept, because: isKept ? ending.because : null })
  }
  return held.filter(({ rows }) => rows > 0)
}

/**
 * Erases a tenant. First, in one transaction: its keys, its agents and its people go, its grants end, and it is marked, so that nothing more
 * arrives and nothing more is read. Then the rest in slices. Killed at any line, it goes on when it is called again. Throws Problem `stopped` when
 * `signal` is aborted, and a Problem when there is no such tenant. `by`: who ended the grants. `alongside` happens in the first transaction,
 * and in no later one.
 */
export async function eraseTenant(
  deps: { pool: Pool; signal: AbortSignal; onDeleted: (rows: number) => void; lateMs?: number },
  leaving: Leaving,
  by: string,
  alongside: Alongside = async () => {},
): Promise<void> {
  await endAccess(deps.pool, leaving, by, alongside)
  await sweep(deps, leaving)
  // What servers write a moment later of requests that were under way: counts of use, the last contact.
  await sleep(deps.lateMs ?? settleMs)
  await endAccess(deps.pool, leaving, by)
  await sweep(deps, leaving)
}

/** Finishes what was begun within the last day: an erasing that was killed, and rows that requests of that moment wrote afterwards. */
export async function finishErasing(pool: Pool): Promise<void> {
  const { rows } = await pool.query<Leaving>(
    `select 'organization' as side, id::text from organization where erased_at > now() - interval '1 day'
     union all
     select 'company', id::text from company where erased_at > now() - interval '1 day'`,
  )
  for (const leaving of rows) {
    await endAccess(pool, leaving, 'housekeeping')
    await sweep({ pool, signal: new AbortController().signal, onDeleted: () => {} }, leaving)
  }
}

/** One transaction, after which nothing new of the tenant arrives and nothing of it is read. */
async function endAccess(pool: Pool, leaving: Leaving, by: string, alongside?: Alongside): Promise<void> {
  while (!(await tryEndAccess(pool, leaving, by, alongside)));
}

/** False, and nothing was changed: an organization granted something before all that grant were held. */
async function tryEndAccess(pool: Pool, leaving: Leaving, by: string, alongside?: Alongside): Promise<boolean> {
  return await withTransaction(pool, async (client) => {
    const held = leaving.side === 'company' ? await holdGranting(client, leaving.id) : []
    const { name, isFirst } = await lockTenant(client, leaving)
    // No other grant to it can begin now, and what is granted under an organization's lock waits until this ends.
    if (leaving.side === 'company') {
      const granting = await organizationsGranting(client, leaving.id)
      if (granting.some((id) => !held.includes(id))) return false
    }
    await mark(client, leaving, by, isFirst ? { name, alongside } : null)
    await client.query('set constraints membership_user_id_fkey deferred')
    for (const [table, ending] of Object.entries(endingsOf(leaving))) {
      if (ending.ends === 'at once') await client.query(`delete from ${table} where ${ending.rows}`, [leaving.id])
    }
    return true
  })
}

/** Holds the organizations that grant a company anything, in the order of their ids: ARCHITECTURE.md, "The order of locks and stamps". */
async function holdGranting(client: Queryable, companyId: CompanyId): Promise<OrganizationId[]> {
  const { rows } = await client.query<{ id: OrganizationId }>(
    `select id from organization where id = any($1::bigint[]) order by id for no key update`,
    [await organizationsGranting(client, companyId)],
  )
  return rows.map(({ id }) => id)
}

/** Also those whose grants have reached their end, which nobody has ended yet. */
async function organizationsGranting(db: Queryable, companyId: CompanyId): Promise<OrganizationId[]> {
  const { rows } = await db.query<{ id: OrganizationId }>(
    'select distinct organization_id as id from access_grant where company_id = $1 and revoked_at is null',
    [companyId],
  )
  return rows.map(({ id }) => id)
}

/** Throws a Problem when there is no such tenant. `isFirst`: it is not marked yet. */
async function lockTenant(client: Queryable, { side, id }: Leaving): Promise<{ name: string; isFirst: boolean }> {
  const { rows } = await client.query<{ name: string; is_first: boolean }>(
    `select name, erased_at is null as is_first from ${side} where id = $1 for no key update`,
    [id],
  )
  if (!rows[0]) throw new Problem(`${side}_unknown`, { errors: `There is no ${side} ${id}.` })
  return { name: rows[0].name, isFirst: rows[0].is_first }
}

/** Deletes all that goes in slices. */
async function sweep(
  { pool, signal, onDeleted }: { pool: Pool; signal: AbortSignal; onDeleted: (rows: number) => void },
  leaving: Leaving,
): Promise<void> {
  for (const [table, ending] of Object.entries(endingsOf(leaving))) {
    if (ending.ends !== 'in slices') continue
    for (let deleted = sliceRows; deleted > 0; ) {
      if (signal.aborted) {
        throw new Problem('stopped', {
          errors: `Stopped. A part of the ${leaving.side} is erased. Repeat the command to erase the rest.`,
        })
      }
      deleted = await deleteSlice(pool, table, ending.rows, leaving)
      onDeleted(deleted)
    }
  }
}

/** Along an index: what is deleted stays in the table's pages for a while, and every other plan would read it again for each slice. */
async function deleteSlice(pool: Pool, table: string, rows: string, { id }: Leaving): Promise<number> {
  return await withTransaction(pool, async (client) => {
    await client.query('set local enable_seqscan = off; set local enable_bitmapscan = off')
    const { rowCount } = await client.query(
      `delete from ${table} where ctid = any (array(select ctid from ${table} where ${rows} limit ${sliceRows}))`,
      [id],
    )
    return rowCount ?? 0
  })
}

/** Ends the tenant's grants. `first`: marks it too, and empties what is kept of everything but names. */
async function mark(
  client: Queryable,
  { side, id }: Leaving,
  by: string,
  first: { name: string; alongside: Alongside | undefined } | null,
): Promise<void> {
  await client.query(
    `with moment as (select clock_timestamp() as at)
     update access_grant set revoked_at = moment.at, revoked_by = $2
       from moment
      where ${side}_id = $1 and revoked_at is null`,
    [id, by],
  )
  if (!first) return
  for (const statement of emptied[side]) await client.query(statement, [id])
  await first.alongside?.(client, first.name)
}

/** An agent's row is locked first: a request that is under way could otherwise refer to it again before it is deleted. */
const emptied = {
  organization: [
    `with moment as (select clock_timestamp() as at)
     update organization
        set erased_at = moment.at, external_reference = null, time_zone = null, country = null, updated_at = moment.at
       from moment
      where id = $1`,
    'select from agent where organization_id = $1 for update',
    `with moment as (select clock_timestamp() as at)
     update location
        set address_line_1 = null, address_line_2 = null, city = null, state = null, postal_code = null, country = null,
            phone = null, email = null, website_url = null, time_zone = null, assigned_time_zone = null, office_hours = null,
            pms_name = null, pms_version = null, reported_by = null, source_id = id::text, is_active = false,
            closed_at = coalesce(closed_at, moment.at), updated_at = moment.at
       from moment
      where organization_id = $1`,
  ],
  company: [
    `with moment as (select clock_timestamp() as at)
     update company set erased_at = moment.at, state = 'closed' from moment where id = $1`,
    'update agreement_acceptance set member_id = null where company_id = $1',
    // Practices' notes that no other company may read go with its grants.
    `with ended as (
       update dataset_grant set notes_since = null
        where company_id = $1 and notes_since is not null
       returning location_id, dataset
     )
     insert into note_removal (location_id, dataset)
     select location_id, dataset
       from ended
      where not exists (select 1 from dataset_grant g
                         where g.location_id = ended.location_id and g.dataset = ended.dataset and g.company_id <> $1
                           and g.notes_since is not null)
         on conflict (location_id, dataset) do update set after_id = 0`,
  ],
} as const

function endingsOf({ side }: Leaving): Endings {
  return side === 'organization' ? organizationEndings : companyEndings
}
