import type { DatasetName } from '@bridgework/contract'
import { DatabaseError, type Pool } from 'pg'
import { askPrepared, plainArray } from '../../platform/database/hot/prepared.ts'
import type { CompanyId, KeyPairId, LocationId } from '../../platform/identity/identity.ts'
import { makeDisclosureMonths } from './months.ts'

/** What an answer disclosed. An unfiltered page and a digest cover the ids in (afterId, lastId]; any other answer lists its ids. */
export type DisclosureEntry = {
  companyId: CompanyId
  keyPairId: KeyPairId
  locationId: LocationId
  dataset: DatasetName
  /** Whether the answer could contain notes. */
  notes: boolean
  filters: Record<string, unknown>
  coverage: { afterId: string; lastId: string } | { ids: readonly string[] }
  /** How many records were sent: none by an answer that only counted or digested them. */
  records: number
  /** How many records the answer said that a filter by patient or start matches; null: it had no such filter. */
  counted: number | null
  /** How many records the answer was a digest of; null: it was none. */
  digested: number | null
  requestId: string
  ip: string
}

export type Disclosure = DisclosureEntry & { id: string; disclosedAt: Date }

/** Puts entries on record in one durable statement, in their order; all or none. */
export async function insertDisclosures(
  pool: Pick<Pool, 'query'>,
  entries: readonly DisclosureEntry[],
  { timeoutMs }: { timeoutMs: number },
): Promise<void> {
  const rows = entries.map((entry) => ({
    company_id: entry.companyId,
    key_pair_id: entry.keyPairId,
    location_id: entry.locationId,
    dataset: entry.dataset,
    notes: entry.notes,
    filters: entry.filters,
    records: entry.records,
    counted: entry.counted,
    digested: entry.digested,
    ...('ids' in entry.coverage
      ? // PostgreSQL reads an array of its own in less time than one of JSON.
        { record_ids: plainArray(entry.coverage.ids) }
      : { after_id: entry.coverage.afterId, last_id: entry.coverage.lastId }),
    request_id: entry.requestId,
    ip: entry.ip,
  }))
  const statement = {
    name: 'disclosure-record',
    text: 'select disclosure_record($1, $2)',
    // The server gives up before we do, so that no statement that we gave up waits on for a lock.
    values: [JSON.stringify(rows), String(Math.max(1, Math.floor(timeoutMs * 0.8)))],
    limitMs: timeoutMs,
  }
  try {
    await askPrepared(pool, statement)
  } catch (error) {
    // The database's clock has reached a month that has no table: no process ran for months, or the clock was set.
    if (!isWithoutMonth(error)) throw error
    await makeDisclosureMonths(pool)
    await askPrepared(pool, statement)
  }
}

/** No table takes the row. A row that breaks a constraint has the same code, and names the constraint. */
function isWithoutMonth(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23514' && error.constraint === undefined
}

/** The latest disclosures of a location, of a company, of both or of all, newest first; `since` included. Indexed by either and the time. */
export async function listDisclosures(
  pool: Pick<Pool, 'query'>,
  filter: { locationId?: LocationId; companyId?: CompanyId; since?: Date; limit: number },
): Promise<Disclosure[]> {
  const values: unknown[] = [filter.since ?? new Date(0), filter.limit]
  const conditions = ['disclosed_at >= $1']
  if (filter.locationId !== undefined) conditions.push(`location_id = $${values.push(filter.locationId)}`)
  if (filter.companyId !== undefined) conditions.push(`company_id = $${values.push(filter.companyId)}`)
  const { rows } = await pool.query<DisclosureRow>(
    `select ${disclosureColumns}
       from disclosure
      where ${conditions.join(' and ')}
      order by disclosed_at desc, id desc
      limit $2`,
    values,
  )
  return rows.map(toDisclosure)
}

export const disclosureColumns = `id, disclosed_at, company_id, key_pair_id, location_id, dataset, notes, filters, records, counted, digested,
  after_id, last_id, record_ids, request_id, host(ip) as ip`

export type DisclosureRow = {
  id: string
  disclosed_at: Date
  company_id: CompanyId
  key_pair_id: KeyPairId
  location_id: LocationId
  dataset: DatasetName
  notes: boolean
  filters: Record<string, unknown>
  records: number
  counted: number | null
  digested: number | null
  after_id: string | null
  last_id: string | null
  record_ids: string[] | null
  request_id: string
  ip: string
}

/** How many disclosures there are: the last one's number, because none is ever removed and counting them would read them all. */
export async function countDisclosures(pool: Pick<Pool, 'query'>): Promise<number> {
  const { rows } = await pool.query<{ last: string | null }>('select max(id) as last from disclosure')
  return Number(rows[0]?.last ?? 0)
}

export function toDisclosure(row: DisclosureRow): Disclosure {
  return {
    id: row.id,
    disclosedAt: row.disclosed_at,
    companyId: row.company_id,
    keyPairId: row.key_pair_id,
    locationId: row.location_id,
    dataset: row.dataset,
    notes: row.notes,
    filters: row.filters,
    coverage:
      row.after_id !== null && row.last_id !== null
        ? { afterId: row.after_id, lastId: row.last_id }
        : { ids: row.record_ids ?? [] },
    records: row.records,
    counted: row.counted,
    digested: row.digested,
    requestId: row.request_id,
    ip: row.ip,
  }
}
