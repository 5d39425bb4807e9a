import { datasetNames, datasetsWithNotes } from '@bridgework/contract'
import type { Random } from '@bridgework/practice-simulator'
import { changeAccess, endExpiredGrants } from '@bridgework/server/src/modules/consent/grant.ts'
import { regenerateKeyPair } from '@bridgework/server/src/modules/credentials/key-pair.ts'
import { lockDatasetStates, saveDatasetState } from '@bridgework/server/src/modules/datasets/writer-lock.ts'
import { resumeCompany, suspendCompany } from '@bridgework/server/src/modules/directory/company.ts'
import { withTransaction } from '@bridgework/server/src/platform/database/pool.ts'
import type { LocationId } from '@bridgework/server/src/platform/identity/identity.ts'
import type { ModelGrant } from './access.ts'
import { askOnce, fetchToken, isLater } from './clients.ts'
import { Difference } from './difference.ts'
import { type ModelLocation, removeNotes } from './model.ts'
import type { Answer } from './sent/send.ts'
import { persist, settle } from './waiting.ts'
import { type Company, hasNotes, type Organization, type World } from './world.ts'

/** An organization changes what a company may read, as one act: more, less, with notes or without, everywhere or at some locations, or nothing. */
export async function changeGrants(world: World, organization: Organization, company: Company): Promise<void> {
  const { random } = organization
  const before = world.access.grantsOf(company.id, organization.id)
  const way = random.next()
  const wanted =
    way < 0.15
      ? []
      : way < 0.4
        ? before.filter(() => random.chance(0.6))
        : way < 0.6
          ? before.map((grant) => ({ ...grant, notes: random.chance(0.5) }))
          : [...before, ...randomGrants(random, organization)]
  await setAccess(world, organization, company, oncePerPlace(wanted), null)
}

/** Some datasets at some places, with notes or without. */
function randomGrants(random: Random, { locations }: Organization): ModelGrant[] {
  const places = random.chance(0.4) ? [null] : locations.filter(() => random.chance(0.6)).map(({ id }) => id)
  const notes = random.chance(0.4)
  const some = random.chance(0.5) ? datasetNames : datasetNames.filter(() => random.chance(0.5))
  return places.flatMap((locationId) => some.map((dataset) => ({ locationId, dataset, notes })))
}

/** Of several grants of a place, the last one. */
function oncePerPlace(grants: readonly ModelGrant[]): ModelGrant[] {
  return [...new Map(grants.map((grant) => [`${grant.locationId} ${grant.dataset}`, grant])).values()]
}

/** All of it at once, again until it is done: what is so already is not touched. `endsAt` null: no end. */
export async function setAccess(
  world: World,
  organization: Organization,
  company: Company,
  wanted: readonly ModelGrant[],
  endsAt: Date | null,
): Promise<void> {
  const granted = wanted.map((grant) => ({ ...grant, notes: grant.notes && datasetsWithNotes.includes(grant.dataset) }))
  const parties = { companyId: company.id, organizationId: organization.id, by: 'model' }
  const termsOf = () => ({ purpose: null, endsAt })
  // The model gives only ids that the service gave it.
  const access = granted as (ModelGrant & { locationId: LocationId | null })[]
  await persist(world, () => changeAccess(world.pool, { ...parties, termsOf }, () => access))
  await follow(world, organization, company, granted)
  world.counts.acts += 1
  const text = granted.map(
    ({ locationId, dataset, notes }) => `${locationId ?? 'all'}/${dataset}${notes ? '+notes' : ''}`,
  )
  for (const { id } of organization.locations)
    world.note(
      id,
      `access of ${company.clientId}${endsAt ? ` until ${endsAt.toISOString()}` : ''}: ${text.join(' ') || 'none'}`,
    )
}

/** The model has this access from now on, and the notes are gone that nobody may read any more. */
async function follow(
  world: World,
  organization: Organization,
  company: Company,
  wanted: readonly ModelGrant[],
): Promise<void> {
  const places = organization.locations.flatMap((location) => datasetsWithNotes.map((name) => ({ location, name })))
  const had = places.filter(({ location, name }) => hasNotes(world, location, name))
  world.access.set(
    company.id,
    organization.id,
    wanted,
    organization.locations.map(({ id }) => id),
  )
  for (const { location, name } of had) if (!hasNotes(world, location, name)) removeNotes(location, name)
  for (const location of organization.locations) await settle(world, location)
}

/** Some access that ends by the clock, in a second: until then it is not used, because nobody knows when exactly it is over. */
export async function grantUntil(world: World, organization: Organization, company: Company): Promise<void> {
  const { random } = organization
  const wanted = oncePerPlace([
    ...world.access.grantsOf(company.id, organization.id),
    ...randomGrants(random, organization),
  ])
  if (wanted.length === 0) return
  const { rows } = await persist(world, () =>
    world.pool.query<{ ends: Date }>(`select clock_timestamp() + interval '1 second' as ends`),
  )
  const endsAt = rows[0]?.ends ?? new Date()
  await setAccess(world, organization, company, wanted, endsAt)
  await persist(world, () => world.pool.query('select pg_sleep_until($1)', [endsAt]))
  // What a server does within ten minutes: until then the notes are still stored, and nobody may read them.
  await persist(world, () => endExpiredGrants(world.pool))
  await follow(world, organization, company, [])
  for (const { id } of organization.locations) world.note(id, `access of ${company.clientId} has ended by the clock`)
}

/** A suspended company gets nothing, and everything again when it is resumed. */
export async function suspendAndResume(world: World, company: Company): Promise<void> {
  await persist(world, () => suspendCompany(world.pool, company.id))
  await expectRefused(world, company, 'suspended')
  await persist(world, () => resumeCompany(world.pool, company.id))
  world.counts.acts += 2
}

/** A new key pair: the old one, and every token of it, is dead. */
export async function regenerateKeys(world: World, company: Company): Promise<void> {
  const by = { companyId: company.id, memberId: company.ownerId }
  const pair = await persist(world, () => regenerateKeyPair(world.pool, world.secretKey, by))
  await expectRefused(world, company, 'without its old key pair')
  Object.assign(company, pair)
  company.tokens.clear()
  world.counts.acts += 1
}

/** Neither its tokens nor its pair are good, at any of the processes. */
async function expectRefused(world: World, company: Company, what: string): Promise<void> {
  for (const server of world.service.servers) {
    const token = company.tokens.get(server.name)
    if (token !== undefined) {
      const answer = await askOnce(world, company, server, { path: '/locations', token })
      requireRefused(answer, `the token of a company that is ${what}`)
    }
    const fresh = await fetchToken(world, company, server)
    if (typeof fresh === 'string') throw new Difference(null, `a company that is ${what} gets a token`)
    requireRefused(fresh, `the key pair of a company that is ${what}`)
  }
}

function requireRefused(answer: Answer, what: string): void {
  if (answer.outcome !== 'whole' || isLater(answer) || answer.status === 401) return
  throw new Difference(null, `${what} was answered ${answer.status}: ${answer.text}`)
}

/**
 * The last stamp of each dataset of a location lies ahead of the database's clock, as if that had gone back by so much. What it is drawn for changes no
 * record, as the stamp of a grant does.
 */
export async function setStampsAhead(world: World, location: ModelLocation, aheadMs: number): Promise<void> {
  await persist(world, () =>
    withTransaction(world.pool, async (client) => {
      const states = await lockDatasetStates(client, location.id as LocationId, datasetNames)
      for (const { dataset, clock, ...state } of states) {
        const lastStamp = Math.max(state.lastStamp, clock + aheadMs * 1000)
        await saveDatasetState(client, location.id as LocationId, dataset, { ...state, lastStamp })
      }
    }),
  )
  world.note(location.id, `the last stamps are ${aheadMs} ms ahead`)
}
