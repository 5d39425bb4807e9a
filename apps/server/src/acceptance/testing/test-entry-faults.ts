import { vendorApiPath } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { Attempt } from './test-recorded-requests.ts'

/** An entry of the record: `what` says who read or did what, as `Attempt`s can say it too. */
export type Entry = { id: string; requestId: string; atMs: number; what: string; disclosed: Disclosed | null }

type Disclosed = {
  records: number
  counted: number | null
  digested: number | null
  interval: { after: string; last: string } | null
  ids: string[]
}

/**
 * `missing`: an answer of which records arrived, or a success of an act, that no entry states, or another than what arrived. `extra`: an entry for
 * which no client sent a request, or whose request told its client nothing, and each second one of a request. `unreceived`: entries whose
 * answer was cut, or refused after it had been entered; the record may have those (docs/decisions/disclosures.md).
 */
export type EntryFaults = { missing: string[]; extra: string[]; unreceived: number }

/** Holds what is on record against what the clients saw. */
export function findEntryFaults(attempts: readonly Attempt[], entries: readonly Entry[]): EntryFaults {
  const faults: EntryFaults = { missing: [], extra: [], unreceived: 0 }
  const byRequest = Map.groupBy(entries, ({ requestId }) => requestId)
  for (const attempt of attempts) {
    if (attempt.requestId === null) continue
    const [entry, ...others] = byRequest.get(attempt.requestId) ?? []
    byRequest.delete(attempt.requestId)
    const told = tellsOf(attempt)
    const named = `${attempt.method} ${attempt.path} (${attempt.status}, ${attempt.requestId})`
    for (const other of others) faults.extra.push(`${other.what}, a second time for ${named}`)
    if (told === 'something' ? !entry : told !== 'nothing' && !(entry && states(entry, told)))
      faults.missing.push(`${named}: ${entry ? JSON.stringify(entry.disclosed) : 'no entry'}`)
    if (!entry) continue
    if (!entry.what.startsWith(whatOf(attempt) ?? '-')) faults.extra.push(`${entry.what} for ${named}`)
    else if (attempt.outcome === 'cut' || attempt.status === 503) faults.unreceived += 1
    else if (told === 'nothing') faults.extra.push(`${entry.what} for ${named}`)
  }
  // Whose number no client ever saw: each must be one of those that got no answer at all.
  const unanswered = attempts.filter(({ outcome, status }) => outcome === 'cut' && status === null)
  for (const entry of [...byRequest.values()].flat()) {
    const index = unanswered.findIndex((attempt) => mayBeOf(entry, attempt))
    if (index === -1) faults.extra.push(`${entry.what} ${entry.requestId}, without a request`)
    else {
      unanswered.splice(index, 1)
      faults.unreceived += 1
    }
  }
  return faults
}

/** Reads what was entered after these ids. */
export async function readEntries(pool: Pool, after: { disclosure: string; act: string }): Promise<Entry[]> {
  const disclosures = await pool.query(
    `select id, request_id, extract(epoch from disclosed_at) * 1000 as at_ms, company_id, location_id, dataset, records, counted, digested,
            after_id, last_id, record_ids
       from disclosure where id > $1`,
    [after.disclosure],
  )
  // An act of the operator stands in the history of the company or practice too: with its own one it counts once.
  const acts = await pool.query(
    `select id, request_id, extract(epoch from occurred_at) * 1000 as at_ms, user_id, action
       from audit_event act
      where id > $1
        and (side = 'operator' or action not like 'operator.%'
             or not exists (select 1 from audit_event own
                             where own.request_id = act.request_id and own.side = 'operator' and own.action = act.action))`,
    [after.act],
  )
  return [
    ...disclosures.rows.map((row) => ({
      id: row.id,
      requestId: row.request_id,
      atMs: Number(row.at_ms),
      what: `${row.company_id} read ${row.location_id}/${row.dataset}`,
      disclosed: {
        records: Number(row.records),
        counted: row.counted === null ? null : Number(row.counted),
        digested: row.digested === null ? null : Number(row.digested),
        interval: row.record_ids === null ? { after: row.after_id, last: row.last_id } : null,
        ids: row.record_ids ?? [],
      },
    })),
    ...acts.rows.map((row) => ({
      id: row.id,
      requestId: row.request_id,
      atMs: Number(row.at_ms),
      what: `${row.user_id} did ${row.action}`,
      disclosed: null,
    })),
  ]
}

/** What the entry of an attempt begins with; null for a request that can have none. */
function whatOf({ by, path, act }: Attempt): string | null {
  if (act !== null) return `${by} did ${act}`
  const [, locationId, dataset] = datasetPath.exec(path) ?? []
  return locationId === undefined ? null : `${by} read ${locationId}/${dataset}`
}

const datasetPath = new RegExp(`^${vendorApiPath}/locations/(\\d+)/([a-z_]+)(?:/(\\w+))?(?:\\?|$)`)

/** What the client learned: `nothing` that needs an entry, `something` that was cut, an `act`, or these records. */
type Told = 'nothing' | 'something' | 'act' | (Omit<Disclosed, 'interval'> & { after: string })

function tellsOf(attempt: Attempt): Told {
  const { method, path, act, outcome, status, body } = attempt
  if (act !== null) return outcome === 'whole' && status === 200 ? 'act' : 'nothing'
  const [, , dataset, id] = datasetPath.exec(path) ?? []
  if (dataset === undefined || dataset === 'sync_status' || status !== 200) return 'nothing'
  // A piece of one record is a disclosure too.
  if (outcome === 'cut') return body.includes('"attributes"') ? 'something' : 'nothing'
  const told = { records: 0, counted: null, digested: null, ids: [] as string[], after: '0' }
  if (method === 'HEAD') return id === undefined || id === 'digest' ? 'nothing' : { ...told, counted: 1, ids: [id] }
  if (id === 'export') {
    const lines = body.split('\n').filter((line) => line !== '')
    // The last line is not a record.
    const ids = lines.slice(0, -1).map((line) => JSON.parse(line).id)
    return ids.length === 0 ? 'nothing' : { ...told, records: ids.length, ids }
  }
  const { data, pagy } = JSON.parse(body)
  const query = new URLSearchParams(path.split('?')[1])
  const after = query.get('after') ?? '0'
  if (id === 'digest') {
    if (data.length === 0) return 'nothing'
    const digested = data.reduce((sum: number, range: DigestRange) => sum + range.attributes.records, 0)
    return { ...told, digested, ids: [data.at(-1).id], after }
  }
  if (id !== undefined) return { ...told, records: 1, ids: [id] }
  const ids = data.map((record: { id: string }) => record.id)
  const isCounted = ['q[patient_id]', 'q[starts_from]', 'q[starts_to]'].some((name) => query.has(name))
  if (ids.length === 0 && !isCounted) return 'nothing'
  return { ...told, records: ids.length, counted: isCounted ? pagy.total : null, ids, after }
}

type DigestRange = { attributes: { records: number } }

/** Whether the entry says exactly what arrived: an interval ends with the last record and begins where the client asked. */
function states({ disclosed }: Entry, told: Exclude<Told, 'nothing' | 'something'>): boolean {
  if (told === 'act') return disclosed === null
  if (!disclosed) return false
  const { records, counted, digested, interval, ids } = disclosed
  const isSame = records === told.records && counted === told.counted && digested === told.digested
  if (!isSame) return false
  if (interval) return interval.after === told.after && interval.last === told.ids.at(-1)
  return ids.toSorted().join() === told.ids.toSorted().join()
}

/** Entered while the attempt was under way, or soon after its server was killed: what it had handed to the database may still be committed. */
function mayBeOf(entry: Entry, attempt: Attempt): boolean {
  return (
    entry.what === whatOf(attempt) && entry.atMs >= attempt.begunAtMs - 100 && entry.atMs <= attempt.endedAtMs + 5_000
  )
}
