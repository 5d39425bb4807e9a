import { type DatasetName, getDataset } from '@bridgework/contract'
import type { Readable } from './access.ts'
import { linesOf, metaOf } from './books.ts'
import { ask } from './clients.ts'
import {
  type Belongs,
  changedSince,
  compareNumbered,
  comparePage,
  compareRecord,
  everything,
  type PageAnswer,
  type Received,
  textOf,
} from './compare.ts'
import { Difference } from './difference.ts'
import type { ModelLocation, Version } from './model.ts'
import type { Answer } from './sent/send.ts'
import type { Company, World } from './world.ts'

/**
 * A moment for a delta: given at a version of the location, or between two, under a grant. `isSettled`: surely after the grant's stamp was drawn, which
 * a writer may keep from being drawn at the first read.
 */
export type Watermark = { text: string; from: Version; to: Version; serial: number; isSettled: boolean }

/** A company's copy of a dataset, kept by walks, exports and deltas, as the guides say. */
export type Mirror = {
  company: Company
  location: ModelLocation
  name: DatasetName
  /** The text of each record by its id, as it was last received. */
  records: Map<string, string>
  /** Null before the first walk has ended. */
  watermark: Watermark | null
  /** A walk or an export that has begun and not ended: where it goes on, and the watermark of its beginning. */
  walk: Walk | null
  /** Some earlier watermarks. */
  earlier: Watermark[]
}

/** `page`: the next one of a walk by number, of so many `items`; null where it goes on after an id. */
type Walk = { after: string; page: { number: number; items: number } | null; watermark: Watermark }

export type Mirrors = {
  of: (company: Company, location: ModelLocation, name: DatasetName) => Mirror
  count: () => number
}

export function createMirrors(): Mirrors {
  const mirrors = new Map<string, Mirror>()
  return {
    of(company, location, name) {
      const key = `${company.id} ${location.id} ${name}`
      const known = mirrors.get(key)
      if (known) return known
      const fresh: Mirror = { company, location, name, records: new Map(), watermark: null, walk: null, earlier: [] }
      mirrors.set(key, fresh)
      return fresh
    },
    count: () => mirrors.size,
  }
}

/** What the company may read now. The step was chosen because it may. */
export function readableOf(world: World, { company, location, name }: Mirror): Readable {
  const readable = world.access.find(company.id, location.id, name)
  if (!readable) throw new Error('a mirror of what may not be read')
  return readable
}

export type Query = {
  after?: string
  page?: number
  items: number
  since?: string
  more?: Record<string, string>
  isKnown?: boolean | null
}

/** Asks for a page of a list. */
export async function fetchPage(world: World, mirror: Mirror, query: Query): Promise<PageAnswer> {
  const { company, location, name } = mirror
  const parameters = new URLSearchParams({
    items: String(query.items),
    ...(query.after !== undefined && { after: query.after }),
    ...(query.page !== undefined && { page: String(query.page) }),
    ...(query.since !== undefined && { 'q[fetch_modified_since]': query.since }),
    ...query.more,
  })
  const path = `/locations/${location.id}/${name}?${parameters}`
  for (;;) {
    const { isKnown = false } = query
    const answer = await ask(world, company, { path, gzip: world.wire.chance(0.5), isKnown })
    // A server that was killed while it sent: asked again.
    if (answer.outcome === 'cut') continue
    return JSON.parse(requireOk(location, path, answer).text)
  }
}

export function requireOk(location: ModelLocation, path: string, answer: Answer): Answer {
  if (answer.status === 200) return answer
  throw new Difference(location.id, `${path} was answered ${answer.status}: ${answer.text.slice(0, 500)}`)
}

export function isNumbered(name: DatasetName): boolean {
  return getDataset(name).pagination === 'page'
}

/** Reads the next page of a walk through everything, which may have begun long ago. A walk by number keeps the size of its pages. */
export async function walkOn(world: World, mirror: Mirror, items: number): Promise<void> {
  const { location, name } = mirror
  // Pages by number cannot go on where an export was cut, nor the reverse.
  const walk = isNumbered(name) && mirror.walk?.page === null ? null : mirror.walk
  const readable = readableOf(world, mirror)
  const after = walk?.after ?? '0'
  const page = isNumbered(name) ? (walk?.page ?? { number: 1, items }) : null
  const position = page ? { page: page.number, items: page.items } : { after, items }
  const answer = await fetchPage(world, mirror, position)
  const checked = { belongs: everything, notes: readable.notes, isTotalExact: true }
  if (page) compareNumbered(location, name, answer, { ...checked, page: page.number, items: page.items })
  else comparePage(location, name, answer, { ...checked, after, items })
  take(mirror, answer.data)
  requireMeta(location, name, answer, { isFirst: walk === null })
  const watermark = walk?.watermark ?? watermarkOf(location, answer.meta.next_fetch_modified_since, readable)
  const next = page && { ...page, number: page.number + 1 }
  if (answer.meta.has_more) mirror.walk = { after: answer.data.at(-1)?.id ?? after, page: next, watermark }
  else endWalk(mirror, watermark)
  world.counts.walks += walk === null ? 1 : 0
  world.note(
    location.id,
    `walk of ${name} by ${mirror.company.clientId} from ${page?.number ?? after}, watermark ${watermark.text}`,
  )
}

/** The watermark of an answer that was given while nothing changed. */
function watermarkOf({ version }: ModelLocation, text: string | null, { serial, isSettled }: Readable): Watermark {
  return { text: text ?? '', from: version, to: version, serial, isSettled }
}

function endWalk(mirror: Mirror, watermark: Watermark): void {
  mirror.walk = null
  setWatermark(mirror, watermark)
}

export function setWatermark(mirror: Mirror, watermark: Watermark): void {
  mirror.watermark = watermark
  mirror.earlier.push(watermark)
  if (mirror.earlier.length > 12) mirror.earlier.shift()
}

export function take(mirror: Mirror, received: readonly Received[]): void {
  for (const record of received) mirror.records.set(record.id, JSON.stringify(record))
}

export function requireMeta(
  location: ModelLocation,
  name: DatasetName,
  { meta }: PageAnswer,
  { isFirst }: { isFirst: boolean },
) {
  const { syncedAt, isComplete } = location.datasets[name]
  const fail = (what: string) => new Difference(location.id, `${name}: ${what}`)
  if (isFirst !== (meta.next_fetch_modified_since !== null)) throw fail('the watermark is not on the first page alone')
  if (meta.freshness.synced_at !== syncedAt) throw fail(`synced_at is ${meta.freshness.synced_at}, not ${syncedAt}`)
  if ((meta.freshness.state === 'pending') === isComplete) throw fail(`the state is ${meta.freshness.state}`)
}

/**
 * Reads all pages of a delta. It must have exactly what changed since its watermark, or everything where the grant is newer. `isOld`: it is read and
 * compared, and the mirror stays as it is.
 */
export async function readDelta(
  world: World,
  mirror: Mirror,
  given: { watermark: Watermark; items: number; isOld?: boolean },
): Promise<void> {
  const { location, name } = mirror
  const { watermark, items, isOld = false } = given
  const readable = readableOf(world, mirror)
  const numbered = isNumbered(name)
  let [after, page, next, isWhole] = ['0', 1, null as Watermark | null, false]
  world.counts.deltas += 1
  for (let hasMore = true; hasMore; page += 1) {
    const position = numbered ? { page } : { after }
    const answer = await fetchPage(world, mirror, { ...position, items, since: watermark.text })
    if (page === 1) isWhole = isWholeBecauseGranted(location, name, answer, watermark, readable)
    const belongs: Belongs = isWhole ? everything : changedSince(watermark)
    const checked = { after, page, items, belongs, notes: readable.notes, isTotalExact: page === 1 }
    if (numbered) compareNumbered(location, name, answer, checked)
    else comparePage(location, name, answer, checked)
    requireMeta(location, name, answer, { isFirst: page === 1 })
    next ??= watermarkOf(location, answer.meta.next_fetch_modified_since, readable)
    if (!isOld) take(mirror, answer.data)
    after = answer.data.at(-1)?.id ?? after
    hasMore = answer.meta.has_more
  }
  if (!isOld && next) setWatermark(mirror, next)
  const way = isWhole ? 'whole' : `since version ${watermark.to}`
  world.note(
    location.id,
    `${isOld ? 'old ' : ''}delta of ${name} by ${mirror.company.clientId}, ${way}, to ${next?.text}`,
  )
}

/** Whether a delta returns everything, which it must for a grant that is newer than its watermark, and may while the grant's stamp is not drawn. */
function isWholeBecauseGranted(
  location: ModelLocation,
  name: DatasetName,
  { meta }: PageAnswer,
  watermark: Watermark,
  readable: Readable,
): boolean {
  const isWhole = meta.granted_at !== null
  const mustBe = watermark.serial !== readable.serial
  if (mustBe && !isWhole) throw new Difference(location.id, `${name}: a delta from before its grant is not whole`)
  if (isWhole && !mustBe && watermark.isSettled)
    throw new Difference(
      location.id,
      `${name}: a delta since ${watermark.text} is whole again, because of the grant of ${meta.granted_at}`,
    )
  if (!isWhole) readable.isSettled = true
  return isWhole
}

/** Reads an export, or goes on with one, of which some may be cut on purpose. Returns whether it came to its end. */
export async function readExport(
  world: World,
  mirror: Mirror,
  { gzip, cutAfter }: { gzip: boolean; cutAfter?: number },
): Promise<boolean> {
  const { company, location, name, walk } = mirror
  const readable = readableOf(world, mirror)
  const after = walk?.after ?? '0'
  const path = `/locations/${location.id}/${name}/export${walk ? `?after=${after}` : ''}`
  const answer = await ask(world, company, { path, gzip, ...(cutAfter !== undefined && { cutAfter }) })
  requireOk(location, path, answer)
  world.counts.exports += 1
  if (answer.outcome === 'cut') world.counts.cuts += 1
  const [received, meta] = [linesOf(answer.text), metaOf(answer.text)]
  const header = answer.headers['x-next-fetch-modified-since']?.toString() ?? null
  if ((header === null) !== (walk !== null))
    throw new Difference(location.id, `${name}: an export's watermark is ${header}`)
  if (answer.headers['x-total'] !== String(location.datasets[name].records.size))
    throw new Difference(location.id, `${name}: an export's X-Total is ${answer.headers['x-total']}`)
  if (answer.outcome === 'whole' && meta?.records !== received.length)
    throw new Difference(location.id, `${name}: an export of ${received.length} says ${meta?.records}`)
  const hasMore = meta?.has_more ?? true
  const page = { data: received, pagy: null, meta: { has_more: hasMore } as PageAnswer['meta'] }
  const items = hasMore ? received.length : Number.POSITIVE_INFINITY
  const checked = { after, items, belongs: everything, notes: readable.notes, isTotalExact: false }
  // One that was cut behind its last record says nothing of what follows.
  if (meta) comparePage(location, name, page, checked)
  else for (const record of received) compareRecord(location, name, record, readable)
  take(mirror, received)
  const watermark = walk?.watermark ?? watermarkOf(location, header, readable)
  // Where no record came, it begins anew.
  const last = received.at(-1)?.id ?? walk?.after
  if (hasMore) mirror.walk = last === undefined ? null : { after: last, page: null, watermark }
  else endWalk(mirror, watermark)
  const end = meta ? (hasMore ? 'in part' : 'whole') : 'cut'
  world.note(
    location.id,
    `export of ${name} by ${company.clientId} from ${after}: ${received.length} records, ${end}, watermark ${watermark.text}`,
  )
  return !hasMore
}

/** Throws where a copy that has caught up is not what the model has. */
export function compareMirror(world: World, mirror: Mirror): void {
  const { location, name, company } = mirror
  const readable = readableOf(world, mirror)
  const { records } = location.datasets[name]
  for (const text of mirror.records.values()) {
    const received: Received = JSON.parse(text)
    const record = location.datasets[name].byId.get(received.id)
    if (record && textOf(location, name, record, readable) === text) continue
    compareRecord(location, name, received, readable)
  }
  if (mirror.records.size === records.size) return
  const missing = [...records.values()].find(({ id }) => id === null || !mirror.records.has(id))
  throw new Difference(
    location.id,
    `${name}: the copy of ${company.clientId} has ${mirror.records.size} of ${records.size} records, without ${missing?.sourceId}`,
  )
}
