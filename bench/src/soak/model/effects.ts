import { tell } from './clients.ts'
import type { PageAnswer, Received } from './compare.ts'
import { Difference } from './difference.ts'
import {
  fetchPage,
  isNumbered,
  type Mirror,
  type Mirrors,
  readableOf,
  requireMeta,
  setWatermark,
  take,
} from './mirror.ts'
import { applyUpload, type ModelLocation } from './model.ts'
import { differenceFrom, isAsRead, readAll } from './reads.ts'
import { acknowledge, type LastUploads, randomUpload, requestOf, type Upload } from './sent/uploads.ts'
import { settle } from './waiting.ts'
import { hasNotes, organizationOf, type World } from './world.ts'

/** Whether an upload that had no answer took effect, by what a company reads; null: nobody may read it, or it changes nothing. */
export async function tookEffect(world: World, mirrors: Mirrors, upload: Upload): Promise<boolean | null> {
  const { location, name, lines, number } = upload
  const company = world.companies.find(({ id }) => world.access.find(id, location.id, name))
  if (!company) return null
  const mirror = mirrors.of(company, location, name)
  const received = await readAll(world, mirror)
  const { notes } = readableOf(world, mirror)
  const after = structuredClone(location)
  applyUpload(after, name, { lines, number, hasNotes: hasNotes(world, location, name) })
  const [wasNot, was] = [structuredClone(location), after].map((state) => isAsRead(state, name, received, notes))
  if (was && wasNot) return null
  if (was || wasNot) return was === true
  throw new Difference(location.id, `upload ${number} of ${name} took effect in part`)
}

/**
 * Companies read while an upload is stored: each record is as it was or as it will be, and what they copy becomes right by the next delta, though it is
 * not known on which side of the upload their watermark lies.
 */
export async function readDuringUpload(
  world: World,
  mirrors: Mirrors,
  last: LastUploads,
  location: ModelLocation,
  upload: Upload = randomUpload(world, location, 'patients', 20),
): Promise<void> {
  const organization = organizationOf(world, location)
  const { random } = organization
  const before = structuredClone(location)
  const readers = world.companies.flatMap((company) =>
    world.access.datasetsOf(company.id, location.id).map((name) => mirrors.of(company, location, name)),
  )
  const chosen = readers.filter(({ watermark }) => watermark !== null && random.chance(0.3)).slice(0, 6)
  const reading = chosen.map((mirror) => ({ mirror, read: readUnchecked(world, mirror) }))
  const answer = await tell(world, organization, requestOf(organization, upload))
  const reads = await Promise.all(reading.map(async ({ mirror, read }) => ({ mirror, pages: await read })))
  acknowledge(world, last, upload, answer)
  await settle(world, location)
  const names = chosen.map(({ company, name }) => `${name} by ${company.clientId}`)
  world.note(location.id, `during that upload deltas were read: ${names.join(', ')}`)
  for (const { mirror, pages } of reads) {
    const readable = readableOf(world, mirror)
    for (const received of pages.flatMap(({ data }) => data))
      compareEither(before, location, mirror, received, readable.notes)
    for (const page of pages) take(mirror, page.data)
    const text = pages[0]?.meta.next_fetch_modified_since ?? ''
    const { serial, isSettled } = readable
    setWatermark(mirror, { text, from: before.version, to: location.version, serial, isSettled })
    if (pages[0]) requireMeta(location, mirror.name, pages[0], { isFirst: true })
  }
}

async function readUnchecked(world: World, mirror: Mirror): Promise<PageAnswer[]> {
  const pages: PageAnswer[] = []
  const items = world.wire.pick([10, 100, 5_000])
  const since = mirror.watermark?.text ?? ''
  for (let page = 1, after = '0', hasMore = true; hasMore; page += 1) {
    const answer = await fetchPage(world, mirror, {
      ...(isNumbered(mirror.name) ? { page } : { after }),
      items,
      since,
    })
    pages.push(answer)
    after = answer.data.at(-1)?.id ?? after
    hasMore = answer.meta.has_more
  }
  return pages
}

/** A record is as the model had it before, or as it has it now. */
function compareEither(
  before: ModelLocation,
  now: ModelLocation,
  { name }: Mirror,
  received: Received,
  notes: boolean,
): void {
  const { records, byId } = now.datasets[name]
  const record = byId.get(received.id) ?? records.get(String(received.attributes.source_id))
  const isUnchanged = record !== undefined && record.changedAt <= before.version
  const past = isUnchanged ? 'it did not change' : differenceFrom(before, name, received, { notes, isPast: true })
  if (past === null) return
  const present = differenceFrom(now, name, received, { notes })
  if (present !== null) throw new Difference(now.id, `${present}; before that upload: ${past}`)
}
