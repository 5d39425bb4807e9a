import { createHash } from 'node:crypto'
import { type DatasetName, getDataset, limits } from '@bridgework/contract'
import type { Random } from '@bridgework/practice-simulator'
import { ask, askOnce } from './clients.ts'
import { type Belongs, changedSince, comparePage, compareRecord, type Received, textOf } from './compare.ts'
import { Difference } from './difference.ts'
import { fetchPage, isNumbered, type Mirror, readableOf, requireMeta, requireOk } from './mirror.ts'
import { type ModelLocation, namedIn } from './model.ts'
import { startOf } from './sent/office.ts'
import { requireStatus } from './sent/uploads.ts'
import type { Company, World } from './world.ts'

/** A list with filters, a moment and fields, in whichever combination, to its end. */
export async function readFiltered(world: World, random: Random, mirror: Mirror): Promise<void> {
  const { location, name, watermark } = mirror
  const readable = readableOf(world, mirror)
  const definition = getDataset(name)
  const more: Record<string, string> = {}
  const conditions: Belongs[] = []
  if (definition.filters.includes('patient_id') && random.chance(0.8)) {
    const patientId = randomPatient(random, location)
    more['q[patient_id]'] = patientId
    conditions.push((record) => idIn(location, record.plain.patient_id) === patientId)
  }
  if (definition.filters.includes('starts_at') && random.chance(0.6)) {
    const [from = '', to = ''] = [startOf(random), startOf(random)].toSorted()
    if (from !== to || random.chance(0.5)) {
      more['q[starts_from]'] = from
      conditions.push(({ source }) => typeof source.starts_at === 'string' && source.starts_at >= from)
    }
    if (from !== to && random.chance(0.7)) {
      more['q[starts_to]'] = to
      conditions.push(({ source }) => typeof source.starts_at === 'string' && source.starts_at < to)
    }
  }
  const fields = random.chance(0.3) ? randomFields(random, Object.keys(definition.attributes.properties)) : null
  // By the id alone a record is known only when an answer has told it.
  const { byId, records } = location.datasets[name]
  if (fields && byId.size < records.size && !fields.includes('source_id')) fields.push('source_id')
  if (fields) more[`fields[${definition.type}]`] = fields.join(',')
  const since = watermark?.serial === readable.serial && watermark.isSettled && random.chance(0.4) ? watermark : null
  if (since) conditions.push(changedSince(since))
  const belongs: Belongs = (record) => {
    const each = conditions.map((condition) => condition(record))
    return each.includes(false) ? false : each.includes(null) ? null : true
  }
  const items = random.pick([1, 7, 100, 5_000])
  const isUnchanged = since !== null && [...records.values()].every(({ changedAt }) => changedAt <= since.to)
  const isKnown = since === null ? records.size === 0 : isUnchanged ? null : false
  const filters = { ...(since && { since: since.text }), more, isKnown }
  if (isNumbered(name)) {
    const page = await fetchPage(world, mirror, { page: 1, items: 5_000, ...filters })
    comparePage(location, name, page, {
      after: '0',
      items: 5_000,
      belongs,
      notes: readable.notes,
      fields,
      isTotalExact: true,
    })
    return
  }
  let after = '0'
  for (let hasMore = true; hasMore; ) {
    const isFirst = after === '0'
    const page = await fetchPage(world, mirror, { after, items, ...filters })
    comparePage(location, name, page, { after, items, belongs, notes: readable.notes, fields, isTotalExact: isFirst })
    requireMeta(location, name, page, { isFirst })
    after = page.data.at(-1)?.id ?? after
    hasMore = page.meta.has_more
  }
}

/** Most often one of the location; now and then an id that no patient of it has. */
function randomPatient(random: Random, location: ModelLocation): string {
  const ids = [...location.datasets.patients.byId.keys()]
  return ids.length === 0 || random.chance(0.1) ? '999999999' : random.pick(ids)
}

function idIn(location: ModelLocation, name: unknown): string | null {
  return typeof name === 'string' ? (namedIn(location, name)?.record.id ?? null) : null
}

function randomFields(random: Random, names: readonly string[]): string[] {
  const some = names.filter(() => random.chance(0.3))
  return some.length > 0 ? some : [random.pick(names)]
}

/** A single record with or without fields, the same as a HEAD, and one that is not there. */
export async function readRecord(world: World, random: Random, mirror: Mirror): Promise<void> {
  const { company, location, name } = mirror
  const definition = getDataset(name)
  const readable = readableOf(world, mirror)
  const known = [...location.datasets[name].byId.values()]
  const path = `/locations/${location.id}/${name}`
  const foreign = random.chance(0.2) ? foreignId(world, random, location, name) : null
  if (known.length === 0 || foreign !== null) {
    const answer = await ask(world, company, { path: `${path}/${foreign ?? '999999999'}` })
    requireStatus(location, 'a record of another location', answer, 404, 'record_unknown')
    return
  }
  const { id } = random.pick(known)
  const names = Object.keys({ ...definition.attributes.properties, ...definition.detailAttributes?.properties })
  const fields = random.chance(0.4) ? randomFields(random, names) : null
  const query = fields ? `?fields[${definition.type}]=${fields.join(',')}` : ''
  const method = random.chance(0.3) ? 'HEAD' : 'GET'
  const answer = await ask(world, company, { path: `${path}/${id}${query}`, method })
  if (answer.outcome === 'cut') return
  requireOk(location, path, answer)
  if (method === 'HEAD') {
    if (answer.text !== '') throw new Difference(location.id, `a HEAD of ${name} has a body`)
    return
  }
  compareRecord(location, name, JSON.parse(answer.text).data, { ...readable, fields, detail: true })
}

/** The id of a record of another location, which none of this one has. */
function foreignId(world: World, random: Random, location: ModelLocation, name: DatasetName): string | null {
  const ids = world.organizations
    .flatMap(({ locations }) => locations)
    .filter((other) => other !== location)
    .flatMap((other) => [...other.datasets[name].byId.keys()].slice(0, 5))
  return ids.length === 0 ? null : random.pick(ids)
}

/** Digests of the whole dataset, where the model knows every text. */
export async function readDigests(world: World, mirror: Mirror): Promise<void> {
  const { company, location, name } = mirror
  const readable = readableOf(world, mirror)
  let after = '0'
  const ranges: DigestRange[] = []
  for (let hasMore = true; hasMore; ) {
    const path = `/locations/${location.id}/${name}/digest?after=${after}`
    const answer = await ask(world, company, { path, gzip: world.wire.chance(0.5) })
    if (answer.outcome === 'cut') continue
    const { data, meta } = JSON.parse(requireOk(location, path, answer).text)
    ranges.push(...data)
    hasMore = meta.has_more
    after = meta.next_after ?? after
  }
  const records = [...location.datasets[name].records.values()]
  const texts = new Map<string, string>()
  for (const record of records) {
    const text = textOf(location, name, record, readable)
    if (text === null || record.id === null) return
    texts.set(record.id, text)
  }
  const ids = [...texts.keys()].sort((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1))
  const expected: string[] = []
  for (let from = 0; from < ids.length; from += limits.digestRangeRecords) {
    const own = ids.slice(from, from + limits.digestRangeRecords)
    const sum = own.reduce((sum, id) => sum ^ hashOf(texts.get(id) ?? ''), 0n)
    expected.push([ids[from - 1] ?? '0', own.at(-1), own.length, sum.toString(16).padStart(64, '0')].join())
  }
  const actual = ranges.map(({ attributes: { after_id, last_id, records, sha256 } }) =>
    [after_id, last_id, records, sha256].join(),
  )
  if (actual.join(' ') !== expected.join(' '))
    throw new Difference(location.id, `the digests of ${name} are ${actual.join(' ')}, not ${expected.join(' ')}`)
}

type DigestRange = { attributes: { after_id: string; last_id: string; records: number; sha256: string } }

/** Of a record without its members that are null. */
function hashOf(text: string): bigint {
  const bare = JSON.stringify(JSON.parse(text), (_, value: unknown) => value ?? undefined)
  return BigInt(`0x${createHash('sha256').update(bare).digest('hex')}`)
}

/** What is not granted, not there, or asked for in a wrong way; and a list's HEAD, which reads nothing. */
export async function readWrongly(
  world: World,
  random: Random,
  company: Company,
  location: ModelLocation,
  name: DatasetName,
): Promise<void> {
  const granted = world.access.datasetsOf(company.id, location.id)
  const path = `/locations/${location.id}/${name}`
  const expect = async (asked: string, status: number, code: string) =>
    requireStatus(location, `${asked} of ${company.clientId}`, await ask(world, company, { path: asked }), status, code)
  const way = random.pick(['', '/digest', '/export', '/1', '?items=0', '?q[fetch_modified_since]=2999-01-01T00:00:00Z'])
  if (granted.length === 0) return expect(path + way, 403, 'location_denied')
  if (!granted.includes(name)) return expect(path + way, 403, 'dataset_denied')
  const kind = random.pick(['parameter', 'future', 'location', 'head', 'token'] as const)
  if (kind === 'parameter') return expect(`${path}?q[patient]=1`, 422, 'parameter_invalid')
  if (kind === 'future') return expect(`${path}?q[fetch_modified_since]=2999-01-01T00:00:00Z`, 422, 'parameter_invalid')
  if (kind === 'location') return expect(`/locations/1/${name}`, 404, 'location_unknown')
  if (kind === 'head') {
    const answer = await ask(world, company, {
      path: `${path}${random.pick(['', '/digest', '/export'])}`,
      method: 'HEAD',
    })
    if (answer.outcome === 'whole') requireOk(location, path, answer)
    return
  }
  const server = random.pick(world.service.servers)
  const answer = await askOnce(world, company, server, { path, token: 'bw.not.one' })
  if (answer.outcome === 'whole' && answer.status !== 503)
    requireStatus(location, 'a token of ours not', answer, 401, 'token_invalid')
}

/** What a company sees of a location's state, and which locations of the organization it sees at all. */
export async function readDirectory(world: World, company: Company, location: ModelLocation): Promise<void> {
  const { organizationId } = location
  const locations = world.organizations.find(({ id }) => id === organizationId)?.locations ?? []
  const path = `/locations?items=5000&organization_id=${organizationId}`
  const answer = await ask(world, company, { path })
  if (answer.outcome === 'cut') return
  if (locations.every(({ id }) => world.access.datasetsOf(company.id, id).length === 0))
    return requireStatus(location, path, answer, 403, 'organization_denied')
  const listed: { id: string; attributes: { datasets_granted: string[] } }[] = JSON.parse(
    requireOk(location, path, answer).text,
  ).data
  const seen = listed.map(({ id, attributes }) => `${id} ${attributes.datasets_granted.join()}`).sort()
  const expected = locations
    .map(({ id }) => ({ id, granted: world.access.datasetsOf(company.id, id) }))
    .filter(({ granted }) => granted.length > 0)
    .map(({ id, granted }) => `${id} ${granted.join()}`)
    .sort()
  if (seen.join('; ') !== expected.join('; '))
    throw new Difference(
      location.id,
      `/locations of ${company.clientId} has ${seen.join('; ')}, not ${expected.join('; ')}`,
    )
  if (world.access.datasetsOf(company.id, location.id).length > 0) await readStatus(world, company, location)
}

async function readStatus(world: World, company: Company, location: ModelLocation): Promise<void> {
  const path = `/locations/${location.id}/sync_status`
  const answer = await ask(world, company, { path })
  if (answer.outcome === 'cut') return
  const { data } = JSON.parse(requireOk(location, path, answer).text) as { data: { attributes: Status }[] }
  const actual = data.map(({ attributes: { dataset, total, synced_at, removal_held: held } }) =>
    [dataset, total, synced_at, held && `${held.missing} of ${held.visible}`].join(' '),
  )
  const expected = world.access.datasetsOf(company.id, location.id).map((name) => {
    const { records, syncedAt, held } = location.datasets[name]
    return [name, records.size, syncedAt, held && `${held.left.size} of ${held.visible}`].join(' ')
  })
  if (actual.join('; ') !== expected.join('; '))
    throw new Difference(location.id, `sync_status is ${actual.join('; ')}, not ${expected.join('; ')}`)
}

type Status = {
  dataset: string
  total: number
  synced_at: string | null
  removal_held: { missing: number; visible: number } | null
}

/** Reads a whole dataset and gives its records, compared with nothing. */
export async function readAll(world: World, mirror: Mirror): Promise<Received[]> {
  const received: Received[] = []
  for (let page = 1, after = '0', hasMore = true; hasMore; page += 1) {
    const answer = await fetchPage(world, mirror, {
      ...(isNumbered(mirror.name) ? { page } : { after }),
      items: 5_000,
    })
    received.push(...answer.data)
    after = answer.data.at(-1)?.id ?? after
    hasMore = answer.meta.has_more
  }
  return received
}

/** Whether what was read is what a location of the model has. */
export function isAsRead(
  location: ModelLocation,
  name: DatasetName,
  received: readonly Received[],
  notes: boolean,
): boolean {
  const isWhole = received.length === location.datasets[name].records.size
  return isWhole && received.every((record) => differenceFrom(location, name, record, { notes }) === null)
}

/** What differs between a record and the location's of the model; null: nothing. */
export function differenceFrom(
  location: ModelLocation,
  name: DatasetName,
  received: Received,
  way: Parameters<typeof compareRecord>[3],
): string | null {
  try {
    compareRecord(location, name, received, way)
    return null
  } catch (error) {
    if (error instanceof Difference) return error.message
    throw error
  }
}
