import { type DatasetName, getDataset } from '@bridgework/contract'
import { lastDisclosureId } from '@bridgework/server/src/modules/disclosure/entry.ts'
import { type DisclosureRow, disclosureColumns } from '@bridgework/server/src/modules/disclosure/store.ts'
import type { Bill } from './books.ts'
import { Difference } from './difference.ts'
import type { ModelLocation } from './model.ts'
import { persist } from './waiting.ts'
import { allLocations, type World } from './world.ts'

/** The row of an entry, without the classes of the server. */
type Entry = Omit<DisclosureRow, 'disclosed_at'> & { disclosed_at: Date }

export type Audit = {
  /** Holds everything that was asked since the last time against what was entered since. Nothing may be under way. Returns how many entries there were. */
  compare: () => Promise<number>
  counts: { entries: number; unreceived: number; twice: number }
}

export async function createAudit(world: World): Promise<Audit> {
  const counts = { entries: 0, unreceived: 0, twice: 0 }
  let unanswered: Bill[] = []
  let lastId = await persist(world, () => lastDisclosureId(world.ownerPool))
  return {
    counts,
    async compare() {
      const bills = [...unanswered, ...world.books.close()]
      const { rows } = await persist(world, () =>
        world.ownerPool.query<Entry>(`select ${disclosureColumns} from disclosure where id > $1 order by id`, [lastId]),
      )
      lastId = rows.at(-1)?.id ?? lastId
      const entries = world.planted === 'disclosure' ? withoutOne(world, bills, rows) : rows
      counts.entries += entries.length
      unanswered = compareEntries(world, bills, entries, counts)
      return entries.length
    },
  }
}

/** The planted fault of the negative control: the audit does not see one of the entries. */
function withoutOne(world: World, bills: readonly Bill[], rows: readonly Entry[]): readonly Entry[] {
  const arrived = new Set(bills.filter(({ outcome }) => outcome === 'whole').map(({ requestId }) => requestId))
  const hidden = rows.find(({ request_id: requestId, records }) => arrived.has(requestId) && records > 0)
  if (hidden) world.planted = null
  return rows.filter((row) => row !== hidden)
}

/** Returns the requests that had no answer and may still be entered: a killed process had handed them to the database. */
function compareEntries(
  world: World,
  bills: readonly Bill[],
  entries: readonly Entry[],
  counts: Audit['counts'],
): Bill[] {
  const locations = new Map(allLocations(world).map((location) => [location.id, location]))
  const byRequest = Map.groupBy(entries, ({ request_id: requestId }) => requestId)
  for (const bill of bills) {
    if (bill.requestId === null) continue
    const own = byRequest.get(bill.requestId) ?? []
    byRequest.delete(bill.requestId)
    const fault = faultOf(bill, own, locations.get(bill.locationId), counts)
    if (fault) throw new Difference(bill.locationId, `${bill.method} ${bill.path} (${bill.requestId}): ${fault}`)
  }
  // Entries whose number no client ever saw: each must be of a request that had no answer at all.
  const unanswered = bills.filter(({ outcome, requestId }) => outcome === 'cut' && requestId === null)
  for (const [requestId, [entry]] of byRequest) {
    if (!entry) continue
    const index = unanswered.findIndex((bill) => mayBeOf(entry, bill))
    if (index === -1)
      throw new Difference(entry.location_id, `a disclosure of ${entry.dataset} (${requestId}) belongs to no request`)
    unanswered.splice(index, 1)
    counts.unreceived += 1
  }
  return unanswered.filter(({ endedAtMs }) => endedAtMs > Date.now() - enteredLateMs)
}

/** What is wrong with the entries of a request; null: nothing. */
function faultOf(
  bill: Bill,
  entries: readonly Entry[],
  location: ModelLocation | undefined,
  counts: Audit['counts'],
): string | null {
  const foreign = entries.find((entry) => !isOf(entry, bill))
  if (foreign) return `its entry is of another company, key, address, location or dataset: ${JSON.stringify(foreign)}`
  for (const entry of entries) {
    const miscounted = location && miscountOf(entry, location)
    if (miscounted) return miscounted
  }
  switch (bill.outcome) {
    case 'none':
      return entries.length === 0 ? null : `it sent nothing, and is on record as ${JSON.stringify(entries[0])}`
    case 'refused':
      counts.unreceived += entries.length
      return null
    case 'cut':
      return bill.hasSome && entries.length === 0
        ? 'a part of it arrived, and it is not on record'
        : uncovered(bill, entries)
    case 'whole':
      return bill.isExport ? exportFault(bill, entries) : singleFault(bill, entries, counts)
  }
}

function isOf(entry: Entry, bill: Bill): boolean {
  return (
    entry.company_id === bill.companyId &&
    entry.key_pair_id === bill.keyPairId &&
    entry.location_id === bill.locationId &&
    entry.dataset === bill.dataset &&
    entry.ip === bill.ip
  )
}

/** An interval must hold as many records as its entry says. Ids below one that was served are never given later. */
function miscountOf(entry: Entry, location: ModelLocation): string | null {
  const { after_id: after, last_id: last } = entry
  if (after === null || last === null) return null
  const { records, byId } = location.datasets[entry.dataset]
  if (byId.size !== records.size) return null
  const within = [...byId.keys()].filter((id) => BigInt(id) > BigInt(after) && BigInt(id) <= BigInt(last)).length
  const said = entry.digested ?? entry.records
  return within === said ? null : `(${after}, ${last}] has ${within} records, and the entry says ${said}`
}

/** Whether an entry says that it covers this record. */
function covers({ after_id: after, last_id: last, record_ids: ids }: Entry, id: string): boolean {
  if (after !== null && last !== null) return BigInt(id) > BigInt(after) && BigInt(id) <= BigInt(last)
  return ids?.includes(id) ?? false
}

function uncovered(bill: Bill, entries: readonly Entry[]): string | null {
  const id = bill.ids.find((each) => !entries.some((entry) => covers(entry, each)))
  return id === undefined ? null : `record ${id} arrived, and no entry covers it`
}

/** An export has an entry for each of its parts, one after the other. */
function exportFault(bill: Bill, entries: readonly Entry[]): string | null {
  const sum = entries.reduce((sum, { records }) => sum + records, 0)
  if (sum !== bill.ids.length) return `${bill.ids.length} records arrived, and ${sum} are on record`
  let after = bill.after
  for (const entry of entries.toSorted((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1))) {
    if (entry.after_id !== after) return `a part of it begins after ${entry.after_id}, not ${after}`
    after = entry.last_id ?? after
  }
  return after === bill.ids.at(-1) ? null : `the record ends with ${after}, and ${bill.ids.at(-1)} arrived`
}

/** Exactly one entry, which covers exactly what was sent, and says how it was asked for. */
function singleFault(bill: Bill, entries: readonly Entry[], counts: Audit['counts']): string | null {
  const [entry, other] = entries
  if (!entry) return bill.isKnown === null && bill.ids.length === 0 ? null : 'it is not on record'
  // A small read whose statement was given up while it still ran (docs/decisions/disclosures.md).
  if (other && JSON.stringify(factsOf(entry)) !== JSON.stringify(factsOf(other)))
    return 'it is on record twice, each in another way'
  counts.twice += entries.length - 1
  const expected = {
    records: bill.method === 'HEAD' ? 0 : bill.ids.length,
    counted: bill.counted,
    digested: bill.digested?.records ?? null,
    fields: bill.fields,
  }
  const { records, counted, digested, filters } = entry
  const actual = { records, counted, digested, fields: filters.fields ?? null }
  if (JSON.stringify(actual) !== JSON.stringify(expected))
    return `${JSON.stringify(expected)} is on record as ${JSON.stringify(actual)}`
  if (entry.notes && !mayHaveNotes(bill.dataset, bill.fields)) return 'it is on record with notes, and asked for none'
  if (entry.record_ids !== null) {
    const said = entry.record_ids.toSorted().join()
    return said === bill.ids.toSorted().join() ? null : `the record names ${said}, and ${bill.ids.join()} arrived`
  }
  const last = bill.digested?.lastId ?? bill.ids.at(-1)
  const isInterval = entry.after_id === bill.after && entry.last_id === last
  return isInterval
    ? null
    : `the record covers (${entry.after_id}, ${entry.last_id}], and (${bill.after}, ${last}] arrived`
}

function factsOf({ id: _, disclosed_at: __, ...facts }: Entry): object {
  return facts
}

function mayHaveNotes(dataset: DatasetName, fields: readonly string[] | null): boolean {
  return getDataset(dataset).notes.some((name) => fields === null || fields.includes(name))
}

/** Entered while the request was under way, or soon after its server was killed: what it had handed to the database may still be committed. */
function mayBeOf(entry: Entry, bill: Bill): boolean {
  const atMs = entry.disclosed_at.getTime()
  return isOf(entry, bill) && atMs >= bill.begunAtMs - 100 && atMs <= bill.endedAtMs + enteredLateMs
}

const enteredLateMs = 10_000
