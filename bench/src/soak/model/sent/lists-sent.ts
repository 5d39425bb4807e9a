import type { DatasetName } from '@bridgework/contract'
import { ingestUrl, listHashLength } from '@bridgework/contract/ingest'
import type { Random } from '@bridgework/practice-simulator'
import {
  confirmRemoval,
  rejectRemoval,
  reviewKept,
} from '@bridgework/server/src/modules/records/removals/removal-decision.ts'
import { findCurrentRemoval } from '@bridgework/server/src/modules/records/removals/removal-store.ts'
import { Problem } from '@bridgework/server/src/platform/errors/problem.ts'
import type { LocationId } from '@bridgework/server/src/platform/identity/identity.ts'
import { tell } from '../clients.ts'
import { Difference } from '../difference.ts'
import { listHashOf, type ModelLocation, type ModelRecord, visibleOf } from '../model.ts'
import { persist, settle } from '../waiting.ts'
import { type Organization, organizationOf, type World } from '../world.ts'
import { applyList, confirmHeld, keepHeld, type ListOutcome } from './lists.ts'
import type { Answer } from './send.ts'
import { requireStatus } from './uploads.ts'

/** An office's complete list of a dataset: of the records that it has, and now and then without many of them. */
export async function sendList(world: World, location: ModelLocation, name: DatasetName): Promise<void> {
  const organization = organizationOf(world, location)
  const { random } = organization
  const visible = visibleOf(location.datasets[name])
  const share = random.pick([0, 0, 0.02, 0.1, 0.15, 0.4, 0.9, 1])
  const listed = visible.filter(() => !random.chance(share))
  // Keys that the service does not have, or has hidden.
  const others = [...location.datasets[name].records.values()].filter((record) => !visible.includes(record))
  const named = [...listed, ...others.filter(() => random.chance(0.3))]
  // A slightly old list: what uploads have had since is not missing.
  const { number, sinceNumber } = organization.agent
  const began = Math.max(sinceNumber, number - random.pick([0, 0, 1, 4]))
  const answer = await sendSlices(world, organization, location, name, named, began)
  const keys = new Set(named.map(({ sourceId }) => sourceId))
  const expected = applyList(location, name, { listed: keys, beganAtUpload: began })
  requireOutcome(location, `a complete list of ${name}`, answer, expected)
  world.counts.lists += 1
  world.note(
    location.id,
    `complete list of ${keys.size} of ${visible.length} ${name} (began at ${began}): ${answer.status} ${answer.text}`,
  )
  await settle(world, location)
}

function requireOutcome(location: ModelLocation, what: string, answer: Answer, expected: ListOutcome): void {
  const body = JSON.parse(answer.text)
  if (expected.state === 'running') {
    requireStatus(location, what, answer, 200)
    if (body.remaining === expected.remaining || answer.isAgain) return
  } else if (expected.state === 'done') {
    requireStatus(location, what, answer, 200)
    // A process may die after it has hidden records and before it keeps the answer: asked again, there is nothing left to hide.
    const isRight = body.hidden === expected.hidden || (body.hidden === 0 && answer.isAgain)
    if (isRight && body.remaining === undefined) return
  } else {
    requireStatus(location, what, answer, 409, 'removal_held')
    if (body.missing === expected.missing && body.visible === expected.visible) return
  }
  throw new Difference(location.id, `${what} was answered ${answer.text}, not ${JSON.stringify(expected)}`)
}

async function sendSlices(
  world: World,
  organization: Organization,
  location: ModelLocation,
  name: DatasetName,
  named: readonly ModelRecord[],
  began: number,
): Promise<Answer> {
  const { random } = organization
  const path = { location_id: location.id, dataset: name }
  const begun = await tell(world, organization, {
    method: 'POST',
    path: ingestUrl('beginList', path),
    body: JSON.stringify({ began_at_upload: began }),
  })
  requireStatus(location, `to begin a list of ${name}`, begun, 200)
  const { list_id } = JSON.parse(begun.text)
  const inOrder = named.toSorted((one, other) => Buffer.compare(Buffer.from(one.sourceId), Buffer.from(other.sourceId)))
  const size = random.pick([3, 50, 10_000])
  for (let from = 0, after: string | null = null; from < inOrder.length; from += size) {
    const slice = inOrder.slice(from, from + size)
    await sendSlice(world, organization, location, name, { list_id, after, slice, hasHashes: random.chance(0.7) })
    after = slice.at(-1)?.sourceId ?? after
  }
  return tell(world, organization, {
    method: 'POST',
    path: ingestUrl('finishList', { ...path, list_id }),
    body: '{}',
  })
}

/** The answer names what the service does not have, and what it has otherwise than the agent believes. */
async function sendSlice(
  world: World,
  organization: Organization,
  location: ModelLocation,
  name: DatasetName,
  given: { list_id: string; after: string | null; slice: readonly ModelRecord[]; hasHashes: boolean },
): Promise<void> {
  const { list_id, after, slice, hasHashes } = given
  const { random } = organization
  const unknown: string[] = []
  const different: string[] = []
  const lines = slice.map(({ sourceId, source }) => {
    const stored = listHashOf(name, source, listHashLength)
    // What the agent sent last: the service may have hidden the record since.
    const hash = !hasHashes ? null : random.chance(0.1) ? '0'.repeat(listHashLength) : stored
    const isHidden = source.is_hidden === true
    if (isHidden && hash !== stored) unknown.push(sourceId)
    else if (hash !== null && hash !== stored) different.push(sourceId)
    return { source_id: sourceId, ...(hash !== null && { hash }) }
  })
  const answer = await tell(world, organization, {
    method: 'POST',
    path: ingestUrl('sendListSlice', { location_id: location.id, dataset: name, list_id }),
    headers: { 'content-type': 'application/x-ndjson' },
    body: [{ after }, ...lines].map((line) => JSON.stringify(line)).join('\n'),
  })
  requireStatus(location, `a slice of a list of ${name}`, answer, 200)
  const actual = JSON.stringify([JSON.parse(answer.text).unknown, JSON.parse(answer.text).different])
  if (actual === JSON.stringify([unknown, different])) return
  throw new Difference(
    location.id,
    `a slice of ${name} was answered ${actual}, not ${JSON.stringify([unknown, different])}`,
  )
}

/** A person decides about what waits, as far as nothing came back meanwhile. */
export async function decide(world: World, random: Random, location: ModelLocation, name: DatasetName): Promise<void> {
  const dataset = location.datasets[name]
  const key = { locationId: location.id as LocationId, dataset: name }
  if (!dataset.held) {
    if (dataset.kept.size === 0) return
    await persist(world, (isAgain) => reviewKept(world.pool, key, async () => {}).catch(ignoreUnknown(isAgain)))
    dataset.kept.clear()
    world.note(location.id, `kept ${name} are to be decided again`)
    return
  }
  const removal = await persist(world, () => findCurrentRemoval(world.pool, key))
  if (removal?.state !== 'held' || removal.remaining !== dataset.held.left.size)
    throw new Difference(location.id, `${name}: ${removal?.remaining} records wait, not ${dataset.held.left.size}`)
  const { listHash } = removal
  world.counts.acts += 1
  if (random.chance(0.7)) {
    const done = await persist(world, (isAgain) =>
      confirmRemoval(world.pool, key.locationId, name, listHash).catch(ignoreUnknown(isAgain)),
    )
    const hidden = confirmHeld(location, dataset)
    if (done && done.hidden + done.remaining !== hidden)
      throw new Difference(location.id, `${name}: ${done.hidden} and ${done.remaining} are hidden, not ${hidden}`)
    world.note(location.id, `a removal of ${hidden} ${name} is confirmed`)
  } else {
    await persist(world, (isAgain) =>
      rejectRemoval(world.pool, { ...key, listHash, now: new Date() }).catch(ignoreUnknown(isAgain)),
    )
    world.note(location.id, `a removal of ${dataset.held.left.size} ${name} is rejected`)
    keepHeld(dataset)
  }
  await settle(world, location)
}

/** Done once already, by a transaction whose answer was lost. */
function ignoreUnknown(isAgain: boolean) {
  return (error: unknown): null => {
    if (isAgain && error instanceof Problem && error.code === 'removal_unknown') return null
    throw error
  }
}

/** The agent confirms in a heartbeat that a read is finished. */
export async function confirmRead(world: World, location: ModelLocation, name: DatasetName): Promise<void> {
  const organization = organizationOf(world, location)
  const dataset = location.datasets[name]
  const readAt = new Date(Date.now() - organization.random.whole(0, 600_000)).toISOString()
  const isComplete = organization.random.chance(0.7)
  const self = await tell(world, organization, { method: 'GET', path: ingestUrl('identifyAgent', {}) })
  requireStatus(location, 'who the agent is', self, 200)
  const reads = [{ dataset: name, read_at: readAt, complete: isComplete, location_ids: [location.id] }]
  const confirmed = { epoch: JSON.parse(self.text).epoch, reads }
  const answer = await tell(world, organization, {
    method: 'POST',
    path: ingestUrl('heartbeat', {}),
    body: JSON.stringify({ state: 'idle', sent_at: new Date().toISOString(), reading: null, problems: [], confirmed }),
  })
  requireStatus(location, `a cycle of ${name}`, answer, 200)
  const { not_confirmed: refused } = JSON.parse(answer.text)
  if (refused.length > 0) throw new Difference(location.id, `${name}: its read was not confirmed`)
  if (dataset.syncedAt === null || dataset.syncedAt < readAt) dataset.syncedAt = readAt
  dataset.isComplete ||= isComplete
  world.note(location.id, `cycle of ${name}, complete: ${isComplete}`)
}
