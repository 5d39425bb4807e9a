import { gzipSync } from 'node:zlib'
import type { DatasetName } from '@bridgework/contract'
import { ingestUrl } from '@bridgework/contract/ingest'
import type { Random } from '@bridgework/practice-simulator'
import { isLater, tell, tellOnce } from '../clients.ts'
import { Difference } from '../difference.ts'
import { applyUpload, type Line, type ModelLocation, type UploadCounts } from '../model.ts'
import { settle } from '../waiting.ts'
import { hasNotes, type Organization, organizationOf, type World } from '../world.ts'
import { bodyOf, randomLines } from './office.ts'
import type { Answer, Sent } from './send.ts'

export type Upload = {
  location: ModelLocation
  name: DatasetName
  number: number
  lines: Line[]
  body: Buffer
  isGzip: boolean
}

/** The last upload of each organization that was acknowledged, with its answer: it may be sent again. */
export type LastUploads = Map<string, { upload: Upload; text: string }>

export function randomUpload(
  world: World,
  location: ModelLocation,
  name: DatasetName,
  count: number,
  lines?: Line[],
): Upload {
  const organization = organizationOf(world, location)
  const { random } = organization
  return newUpload(organization, location, name, lines ?? randomLines(random, location, name, count))
}

export function newUpload(
  organization: Organization,
  location: ModelLocation,
  name: DatasetName,
  lines: Line[],
): Upload {
  const { random } = organization
  const text = bodyOf(random, name, lines, random.chance(0.7))
  const isGzip = random.chance(0.7)
  const { agent } = organization
  const { number } = agent
  agent.number += random.whole(1, 3)
  return { location, name, number, lines, body: isGzip ? gzipSync(text, { level: 1 }) : Buffer.from(text), isGzip }
}

export function requestOf(organization: Organization, { location, name, number, body, isGzip }: Upload): Sent {
  return {
    method: 'POST',
    path: ingestUrl('sendRecords', { location_id: location.id, dataset: name }),
    headers: {
      'content-type': 'application/x-ndjson',
      'idempotency-key': `${organization.agent.agentId}-${number}`,
      ...(isGzip && { 'content-encoding': 'gzip' }),
    },
    body,
  }
}

/** Sends an upload until it is acknowledged, and lets the model do the same. */
export async function sendUpload(world: World, last: LastUploads, upload: Upload): Promise<void> {
  const organization = organizationOf(world, upload.location)
  const answer = await tell(world, organization, requestOf(organization, upload))
  acknowledge(world, last, upload, answer)
  await settle(world, upload.location)
}

/** The model does what was acknowledged, and counts the same. */
export function acknowledge(world: World, last: LastUploads, upload: Upload, answer: Answer): void {
  const { location, name, number, lines } = upload
  requireStatus(location, `upload ${number} of ${name}`, answer, 200)
  if (forgets(world, answer)) {
    world.note(location.id, `PLANTED: the model does not learn of upload ${number}`)
    return
  }
  const expected = applyUpload(location, name, { lines, number, hasNotes: hasNotes(world, location, name) })
  requireCounts(location, `upload ${number} of ${name}`, expected, answer)
  last.set(location.organizationId, { upload, text: answer.text })
  world.counts.uploads += 1
  world.note(location.id, `upload ${number} of ${lines.length} ${name}: ${answer.text}`)
}

/** The planted fault of the negative control: one upload that brought something, when some have been acknowledged. */
function forgets(world: World, answer: Answer): boolean {
  if (world.planted !== 'upload' || world.counts.uploads < 5 || JSON.parse(answer.text).inserted === 0) return false
  world.planted = null
  return true
}

function requireCounts(location: ModelLocation, what: string, expected: UploadCounts, answer: Answer): void {
  const actual = JSON.parse(answer.text)
  const names = ['inserted', 'changed', 'unchanged', 'hidden'] as const
  if (names.every((name) => actual[name] === expected[name])) return
  throw new Difference(location.id, `${what} was answered ${answer.text}, not ${JSON.stringify(expected)}`)
}

export function requireStatus(
  location: ModelLocation,
  what: string,
  answer: Answer,
  status: number,
  code?: string,
): void {
  const isRight = answer.outcome === 'whole' && answer.status === status
  if (isRight && (code === undefined || JSON.parse(answer.text).code === code)) return
  throw new Difference(
    location.id,
    `${what} was answered ${answer.status}, not ${status} ${code ?? ''}: ${answer.text}`,
  )
}

/** The same upload again: the same answer, and no second effect. */
export async function repeatUpload(world: World, last: LastUploads, organization: Organization): Promise<void> {
  const known = last.get(organization.id)
  if (!known) return
  const { upload, text } = known
  const answer = await tell(world, organization, requestOf(organization, upload))
  requireStatus(upload.location, `upload ${upload.number} again`, answer, 200)
  if (!isSameJson(answer.text, text))
    throw new Difference(upload.location.id, `upload ${upload.number} again was answered ${answer.text}, not ${text}`)
  world.note(upload.location.id, `upload ${upload.number} again`)
}

/** The same bytes under the next number: records that did not change since are unchanged. */
export async function sendSameBytes(world: World, last: LastUploads, organization: Organization): Promise<void> {
  const known = last.get(organization.id)
  if (!known) return
  const { agent } = organization
  const { number } = agent
  agent.number += 1
  await sendUpload(world, last, { ...known.upload, number })
}

function isSameJson(one: string, other: string): boolean {
  const sorted = (text: string) => JSON.stringify(Object.entries(JSON.parse(text)).sort())
  return sorted(one) === sorted(other)
}

/** The key of the last upload with another body, or in another place: refused. */
export async function reuseKey(
  world: World,
  last: LastUploads,
  location: ModelLocation,
  name: DatasetName,
): Promise<void> {
  const organization = organizationOf(world, location)
  const known = last.get(organization.id)
  if (!known) return
  const { agent } = organization
  const { number: before } = agent
  const other = randomUpload(world, location, name, organization.random.whole(1, 8))
  agent.number = before
  const isSame =
    known.upload.location === location && known.upload.name === name && known.upload.body.equals(other.body)
  if (isSame) return
  const answer = await tell(world, organization, requestOf(organization, { ...other, number: known.upload.number }))
  requireStatus(location, 'another body under a used key', answer, 422, 'idempotency_key_reused')
  world.note(location.id, `key ${known.upload.number} again with another body of ${name}: refused`)
}

/** A body that is wrong somewhere: refused as a whole. */
export async function sendBadBody(world: World, location: ModelLocation, name: DatasetName): Promise<void> {
  const organization = organizationOf(world, location)
  const { random } = organization
  const upload = randomUpload(world, location, name, random.whole(2, 60))
  const good = bodyOf(random, name, upload.lines, true).split('\n')
  const at = random.whole(0, good.length)
  const wrongLines = [
    '{"source_id":"1"}',
    '{"source_id":"1","attributes":{}}',
    '{"source_id":1,"removed":true}',
    `{"source_id":"${'x'.repeat(256)}","removed":true}`,
    'no JSON',
    good[0] ?? '',
  ]
  const kind = random.pick(['line', 'line', 'line', 'empty', 'gzip', 'utf8', 'type'] as const)
  const withLine = () => Buffer.from(good.toSpliced(at, 0, random.pick(wrongLines)).join('\n'))
  const bodies = {
    line: { body: withLine(), isGzip: false },
    empty: { body: Buffer.alloc(0), isGzip: false },
    gzip: { body: gzipSync(good.join('\n')).subarray(0, -random.whole(9, 12)), isGzip: true },
    utf8: { body: Buffer.concat([Buffer.from(good.join('\n')), Buffer.from([0x0a, 0xff])]), isGzip: false },
    type: { body: upload.body, isGzip: upload.isGzip },
  }
  const request = requestOf(organization, { ...upload, ...bodies[kind] })
  if (kind === 'type') request.headers = { ...request.headers, 'content-type': 'text/csv' }
  const answer = await tell(world, organization, request)
  if (answer.outcome !== 'whole' || ![400, 415, 422].includes(answer.status ?? 0))
    throw new Difference(location.id, `a wrong body (${kind}) was answered ${answer.status}: ${answer.text}`)
  world.note(location.id, `wrong body of ${name} (${kind}): ${answer.status}`)
}

/**
 * Sends an upload once. Where no answer comes, it is found out whether it took effect, by another reader than the one that sent it: wholly, or not at
 * all. Then the agent sends it again, which changes nothing more.
 */
export async function sendAndAsk(
  world: World,
  last: LastUploads,
  upload: Upload,
  hasEffect: (upload: Upload) => Promise<boolean | null>,
): Promise<void> {
  const organization = organizationOf(world, upload.location)
  const { random } = organization
  const request = requestOf(organization, upload)
  const answer = await tellOnce(organization.agent, random.pick(world.service.servers), request)
  if (answer.status !== null && answer.outcome === 'whole' && !isLater(answer)) acknowledge(world, last, upload, answer)
  else {
    await settle(world, upload.location)
    world.note(
      upload.location.id,
      `upload ${upload.number} of ${upload.name} without an answer; took effect: ${await hasEffect(upload)}`,
    )
    acknowledge(world, last, upload, await tell(world, organization, request))
  }
  await settle(world, upload.location)
}

/** Two uploads at once, each to a process of its own. */
export async function sendTwo(
  world: World,
  last: LastUploads,
  location: ModelLocation,
  random: Random,
  names: readonly [DatasetName, DatasetName],
): Promise<void> {
  const organization = organizationOf(world, location)
  const first = randomUpload(world, location, names[0], random.whole(1, 30))
  const kind = random.pick(['same', 'otherBody', 'next'] as const)
  const second =
    kind === 'same'
      ? first
      : kind === 'otherBody'
        ? { ...randomUpload(world, location, names[0], random.whole(1, 30)), number: first.number }
        : randomUpload(world, location, names[1], random.whole(1, 30))
  const requests = [first, second].map((upload) => requestOf(organization, upload))
  const both = await Promise.all(requests.map((request, index) => tellTo(world, organization, request, index)))
  const [one, two] = both as [Answer, Answer]
  await settle(world, location)
  const what = `two uploads at once (${kind}, ${first.number} of ${first.name} and ${second.number} of ${second.name})`
  world.note(location.id, `${what}: ${one.status} and ${two.status}`)
  if (kind === 'same' || (first.body.equals(second.body) && first.number === second.number)) {
    acknowledge(world, last, first, one)
    requireStatus(location, what, two, 200)
    if (!isSameJson(one.text, two.text))
      throw new Difference(location.id, `${what} were answered ${one.text} and ${two.text}`)
  } else if (kind === 'otherBody') {
    const [won, lost, upload] = one.status === 200 ? [one, two, first] : [two, one, second]
    acknowledge(world, last, upload, won)
    requireStatus(location, what, lost, 422, 'idempotency_key_reused')
  } else {
    // Of one dataset, a lower number after a higher one is refused. Of two datasets, the counts do not depend on their order.
    const isPassed = names[0] === names[1] && one.status === 422
    if (isPassed) requireStatus(location, what, one, 422, 'idempotency_key_reused')
    else acknowledge(world, last, first, one)
    location.unordered.add(location.version)
    acknowledge(world, last, second, two)
    location.unordered.add(location.version)
  }
}

/** Sends to one of the servers first; to the other one when it does not answer. */
async function tellTo(world: World, organization: Organization, request: Sent, index: number): Promise<Answer> {
  const server = world.service.servers[index % 2] ?? world.service.servers[0]
  const answer = await tellOnce(organization.agent, server, request)
  return answer.outcome === 'whole' && !isLater(answer) ? answer : tell(world, organization, request)
}
