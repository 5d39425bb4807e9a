import { type DatasetName, getDataset } from '@bridgework/contract'
import { Difference } from './difference.ts'
import {
  type Id,
  learnIds,
  type ModelDataset,
  type ModelLocation,
  type ModelRecord,
  namedIn,
  type Version,
} from './model.ts'

/** A record as vendors receive it. */
export type Received = { id: string; type: string; attributes: Record<string, unknown> }

/**
 * Finds the model's record of one that was received, and throws where anything differs. Where nothing does, it learns the record's id and those that
 * it shows. `isPast`: it may be another version of the record, so its moment is not learned.
 */
export function compareRecord(
  location: ModelLocation,
  name: DatasetName,
  received: Received,
  {
    notes,
    fields = null,
    detail = false,
    isPast = false,
  }: { notes: boolean; fields?: readonly string[] | null; detail?: boolean; isPast?: boolean },
): ModelRecord {
  const dataset = location.datasets[name]
  const { source_id: sourceId } = received.attributes
  const record = dataset.byId.get(received.id) ?? dataset.records.get(String(sourceId))
  if (!record) throw new Difference(location.id, `${name} ${received.id} (${sourceId}) is not in the model`)
  const definition = getDataset(name)
  const { updated_at: updatedAt } = received.attributes
  if (typeof updatedAt === 'string' && !isPast) learnMoment(location, dataset, record, updatedAt)
  const expected: Record<string, unknown> = {
    ...(notes ? record.noted : record.plain),
    source_id: record.sourceId,
    updated_at: record.updatedAt ?? updatedAt,
    ...(detail && definition.renderDetail?.(record.source)),
  }
  const asked = fields === null ? expected : pickInOrder(expected, fields)
  const ids: Id[] = [{ dataset, record, id: received.id }]
  const difference =
    received.type !== definition.type
      ? `type ${received.type}`
      : differenceOf(location, asked, received.attributes, `${name} ${record.sourceId}`, ids)
  if (difference) throw new Difference(location.id, difference)
  learnIds(location, ids)
  return record
}

/** What two versions of a record cannot have: a later one with an earlier moment. */
function learnMoment(location: ModelLocation, dataset: ModelDataset, record: ModelRecord, updatedAt: string): void {
  if (record.updatedAt !== null) return
  record.updatedAt = updatedAt
  if (location.unordered.has(record.changedAt)) return
  const known = dataset.moments.get(record.changedAt)
  if (known !== undefined && known !== updatedAt)
    throw new Difference(
      location.id,
      `${dataset.name} ${record.sourceId} changed at ${updatedAt}, others of the same change at ${known}`,
    )
  if (known === undefined) {
    for (const [version, moment] of dataset.moments) {
      if (version < record.changedAt ? moment > updatedAt : moment < updatedAt)
        throw new Difference(
          location.id,
          `${dataset.name} ${record.sourceId} changed at ${updatedAt}, and another change at ${moment}`,
        )
    }
    dataset.moments.set(record.changedAt, updatedAt)
  }
}

function pickInOrder(all: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
}

/** Where two values differ, members in their order; names stand for ids, which are put with `ids`. Null: nowhere. */
function differenceOf(
  location: ModelLocation,
  expected: unknown,
  actual: unknown,
  path: string,
  ids: Id[],
): string | null {
  if (typeof expected === 'string' && typeof actual === 'string') {
    const named = namedIn(location, expected)
    if (named) {
      ids.push({ ...named, id: actual })
      return null
    }
  }
  if (typeof expected === 'object' && expected !== null && typeof actual === 'object' && actual !== null) {
    const [keys, others] = [Object.keys(expected), Object.keys(actual)]
    if (keys.join() !== others.join()) return `${path} has ${others.join()}, not ${keys.join()}`
    for (const key of keys) {
      const [one, other] = [expected, actual].map((each) => (each as Record<string, unknown>)[key])
      const difference = differenceOf(location, one, other, `${path}.${key}`, ids)
      if (difference) return difference
    }
    return null
  }
  return expected === actual ? null : `${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`
}

/** The text of a record as vendors receive it; null while an id or moment of it is not known. */
export function textOf(
  location: ModelLocation,
  name: DatasetName,
  record: ModelRecord,
  { notes }: { notes: boolean },
): string | null {
  const { id, updatedAt } = record
  if (id === null || updatedAt === null) return null
  const attributes = { ...(notes ? record.noted : record.plain), source_id: record.sourceId, updated_at: updatedAt }
  let isKnown = true
  const text = JSON.stringify({ id, type: getDataset(name).type, attributes }, (_, value: unknown) => {
    if (typeof value !== 'string') return value
    const named = namedIn(location, value)
    if (named && named.record.id === null) isKnown = false
    return named ? named.record.id : value
  })
  return isKnown ? text : null
}

/** Whether a record belongs to an answer; null: it may, or may not. */
export type Belongs = (record: ModelRecord) => boolean | null

/** Changed after the watermark, of which it is known only that it lies between two versions. */
export function changedSince({ from, to }: { from: Version; to: Version }): Belongs {
  return ({ changedAt }) => (changedAt > to ? true : changedAt <= from ? false : null)
}

export const everything: Belongs = () => true

export type PageAnswer = {
  data: Received[]
  pagy: { total: number; items: number; page?: number; pages?: number }
  meta: {
    has_more: boolean
    next_after?: string | null
    next_page?: number | null
    next_fetch_modified_since: string | null
    granted_at: string | null
    freshness: { synced_at: string | null; state: string }
  }
}

/** Holds one page of a list by `after` against the model: nothing is missing, nothing too much, and each record is as it should be. */
export function comparePage(
  location: ModelLocation,
  name: DatasetName,
  page: Pick<PageAnswer, 'data' | 'meta'> & { pagy: { total: number } | null },
  asked: {
    after: string
    items: number
    belongs: Belongs
    notes: boolean
    fields?: readonly string[] | null
    isTotalExact: boolean
  },
): void {
  const dataset = location.datasets[name]
  const fail = (what: string) => new Difference(location.id, `${name}: ${what}`)
  let last = BigInt(asked.after)
  const sent = new Set<ModelRecord>()
  for (const received of page.data) {
    const record = compareRecord(location, name, received, asked)
    if (BigInt(received.id) <= last) throw fail(`id ${received.id} comes after ${last}`)
    last = BigInt(received.id)
    if (asked.belongs(record) === false) throw fail(`${record.sourceId} is in an answer to which it does not belong`)
    sent.add(record)
  }
  const hasMore = page.meta.has_more
  if (page.data.length > asked.items) throw fail(`${page.data.length} records of at most ${asked.items}`)
  if (hasMore && page.data.length !== asked.items) throw fail(`${page.data.length} of ${asked.items}, and more follow`)
  let [least, most, follow] = [0, 0, false]
  for (const record of dataset.records.values()) {
    const belongs = asked.belongs(record)
    if (belongs === false) continue
    if (belongs) least += 1
    most += 1
    if (sent.has(record)) continue
    const isBefore = record.id !== null && BigInt(record.id) <= BigInt(asked.after)
    const isAfter = record.id === null || BigInt(record.id) > last
    if (!isBefore && isAfter) follow = true
    if (belongs && !isBefore && !(hasMore && isAfter)) throw fail(`${record.sourceId} (${record.id}) is missing`)
  }
  if (hasMore && !follow) throw fail('more follow, and there is none')
  const total = page.pagy?.total
  if (total !== undefined && asked.isTotalExact && (total < least || total > most))
    throw fail(`the total is ${total}, not ${least === most ? least : `${least} to ${most}`}`)
}

/** Holds a page of a list by number against the model. */
export function compareNumbered(
  location: ModelLocation,
  name: DatasetName,
  page: PageAnswer,
  asked: { page: number; items: number; belongs: Belongs; notes: boolean; isTotalExact: boolean },
): void {
  const dataset = location.datasets[name]
  const fail = (what: string) => new Difference(location.id, `${name}: ${what}`)
  for (const received of page.data) compareRecord(location, name, received, asked)
  const records = [...dataset.records.values()]
  if (records.some(({ id }) => id === null)) return
  const inOrder = (belongs: (record: ModelRecord) => boolean) =>
    records
      .filter(belongs)
      .map(({ id }) => id ?? '')
      .sort((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1))
  const [least, most] = [
    inOrder((record) => asked.belongs(record) === true),
    inOrder((record) => asked.belongs(record) !== false),
  ]
  if (least.length !== most.length) return
  const from = (asked.page - 1) * asked.items
  const expected = least.slice(from, from + asked.items).join()
  const actual = page.data.map(({ id }) => id).join()
  if (actual !== expected) throw fail(`page ${asked.page} of ${asked.items} has ${actual}, not ${expected}`)
  if (page.meta.has_more !== least.length > from + asked.items) throw fail(`has_more is ${page.meta.has_more}`)
  if (asked.isTotalExact && page.pagy.total !== least.length)
    throw fail(`the total is ${page.pagy.total}, not ${least.length}`)
}
