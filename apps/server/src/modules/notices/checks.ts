import { statfs } from 'node:fs/promises'
import type { Pool } from 'pg'
import { outdatedPostgres } from '../../platform/database/postgres-version.ts'
import type { AgentId, LocationId, MemberId } from '../../platform/identity/identity.ts'
import { listAgentIdsAfter } from '../agents/agent-key.ts'
import { listProblems } from '../agents/heartbeat.ts'
import { groupProblems, keepsFromReading } from '../agents/problem-words.ts'
import { quoted } from '../audit/quoted.ts'
import type { SecretKey } from '../credentials/secret.ts'
import { listLocationIdsAfter } from '../directory/location.ts'
import { type OpenTimes, openMsBetween } from '../directory/office-hours.ts'
import {
  countThrottled,
  countUnauthorized,
  findBacklog,
  listFailingWebhooks,
  listHeldRemovals,
  listMemberAddresses,
  listNewAgents,
  listOwedAgreements,
  listRefusedAgents,
  listSilentAgents,
  listTroubledAgents,
  listUnreadDatasets,
  type WatchedDataset,
} from '../overview/watched.ts'
import { findRefused } from '../sign-in/attempt-limit.ts'
import { type ConditionEvent, conditionRules } from './condition-rules.ts'
import type { Finding } from './conditions.ts'
import { findClosedForReaders, findHeldForReaders, findOldForReaders } from './reader-findings.ts'

/** What the checks look at. `disclosureFailedAt`: when this process last could not record a disclosure. */
export type Watched = {
  pool: Pool
  secretKey: SecretKey
  now: Date
  /** Free of the disk of the data directory, from 0 to 1; null: it cannot be seen. */
  freeShare: () => Promise<number | null>
  disclosureFailedAt: Date | null
  /** How long what happens once, as an enrolment, is found. */
  recentMs: number
}

const minutesMs = 60_000
const hoursMs = 60 * minutesMs
const daysMs = 24 * hoursMs

/** Days before the day on which keys stop, at which the company is reminded. */
const remindersDays = [1, 7, 14]
/** Answers within 15 minutes that are many: a client that waits as it is asked to gets a few. */
const throttledMin = 50
const unauthorizedMin = 20
const refusedMin = 10
const freeShareMin = 0.1
/** What an agent reports is noticed when it lasts this long: the restart of a server is not. */
const lastsMs = 15 * minutesMs

/** `find`: all at once, or of some practices after the others. */
export type Check = {
  events: readonly ConditionEvent[]
  find: (watched: Watched) => Promise<Finding[]> | AsyncIterable<Finding[]>
}

/** Every check, with the events that it decides. One that fails decides nothing. */
export const checks: readonly Check[] = [
  { events: ['agreement_to_accept', 'keys_stop_soon', 'keys_stopped'], find: findOwedAgreements },
  { events: ['requests_unauthorized', 'requests_throttled'], find: findRefusedRequests },
  { events: ['webhook_failing', 'webhook_failing_long', 'webhook_stopped'], find: findFailingWebhooks },
  { events: ['removal_held', 'location_removal_held'], find: findHeldRemovals },
  { events: ['agent_enrolled'], find: findNewAgents },
  { events: ['agent_refused'], find: findRefusedAgents },
  { events: ['agent_silent'], find: findSilentAgents },
  { events: ['agent_problem'], find: findProblems },
  { events: ['agent_behind', 'dataset_stale', 'location_silent', 'location_stale'], find: findUnread },
  { events: ['location_closed'], find: findClosed },
  { events: ['sign_ins_refused'], find: findRefusedSignIns },
  { events: ['backlog'], find: findOverdueWork },
  { events: ['disk_full'], find: findFullDisk },
  { events: ['disclosures_failing'], find: findFailingDisclosures },
  { events: ['postgres_outdated'], find: findOutdatedPostgres },
]

const own: readonly ConditionEvent[] = ['disk_full', 'disclosures_failing']
/** Those of what only the process itself knows: its disk, and its failures. */
export const ownChecks = checks.filter(({ events }) => events.some((event) => own.includes(event)))

/** Those of what is noticed within seconds. Each uses an index. */
export const urgentChecks = checks.filter(({ events }) => events.every((event) => conditionRules[event].isUrgent))

async function findOwedAgreements({ pool, now }: Watched): Promise<Finding[]> {
  return (await listOwedAgreements(pool)).flatMap(({ companyId: tenantId, version, enforcedAt }): Finding[] => {
    const leftDays = (enforcedAt.getTime() - now.getTime()) / daysMs
    const which = `Version ${version} of the developer API agreement`
    const day = enforcedAt.toISOString().slice(0, 10)
    if (leftDays <= 0) {
      return [{ event: 'keys_stopped', tenantId, item: `${version}`, about: `${which} is binding since ${day}` }]
    }
    const about = `${which} is binding from ${day} on`
    const reminder = remindersDays.find((days) => leftDays <= days)
    return [
      { event: 'agreement_to_accept', tenantId, item: `${version}`, about },
      ...(reminder === undefined
        ? []
        : [{ event: 'keys_stop_soon' as const, tenantId, item: `${version} ${reminder}`, about }]),
    ]
  })
}

async function findRefusedRequests({ pool, now }: Watched): Promise<Finding[]> {
  const since = new Date(now.getTime() - 15 * minutesMs)
  const many = (event: ConditionEvent, counts: { companyId: string; count: number }[], min: number): Finding[] =>
    counts
      .filter(({ count }) => count >= min)
      .map(({ companyId: tenantId, count }) => ({
        event,
        tenantId,
        item: '',
        about: `${count} requests within 15 minutes`,
      }))
  return [
    ...many('requests_unauthorized', await countUnauthorized(pool, since), unauthorizedMin),
    ...many('requests_throttled', await countThrottled(pool, since), throttledMin),
  ]
}

async function findFailingWebhooks({ pool, now }: Watched): Promise<Finding[]> {
  return (await listFailingWebhooks(pool)).flatMap(
    ({ id, companyId: tenantId, url, failingSince, stoppedBecause }): Finding[] => {
      // The time belongs to it: the next outage of the same webhook is another.
      const of = { tenantId, item: `${id} ${failingSince?.getTime() ?? ''}` }
      const about = quoted(url)
      if (stoppedBecause !== null) {
        const why = stoppedBecause === 'gone' ? 'your server answered 410' : 'five days passed without a success'
        return [{ ...of, event: 'webhook_stopped', about: `${about}, because ${why}` }]
      }
      const isLong = failingSince !== null && now.getTime() - failingSince.getTime() > daysMs
      return [
        { ...of, event: 'webhook_failing', about },
        ...(isLong ? [{ ...of, event: 'webhook_failing_long' as const, about }] : []),
      ]
    },
  )
}

async function* findHeldRemovals({ pool }: Watched): AsyncIterable<Finding[]> {
  const held = await listHeldRemovals(pool)
  yield held.map(({ id, organizationId, location, dataset }) => ({
    event: 'removal_held',
    tenantId: organizationId,
    item: id,
    about: `${dataset} at ${quoted(location)}`,
  }))
  const places = [...Map.groupBy(held, ({ locationId }) => locationId).values()]
  for (let from = 0; from < places.length; from += sliceMax)
    yield await findHeldForReaders(pool, places.slice(from, from + sliceMax).flat())
}

async function findNewAgents({ pool, now, recentMs }: Watched): Promise<Finding[]> {
  const agents = new Map((await listNewAgents(pool, new Date(now.getTime() - recentMs))).map((each) => [each.id, each]))
  return [...agents.values()].map(({ id: item, name, organizationId: tenantId }) => ({
    event: 'agent_enrolled',
    tenantId,
    item,
    about: quoted(name),
  }))
}

async function findRefusedAgents({ pool, now, recentMs }: Watched): Promise<Finding[]> {
  return (await listRefusedAgents(pool, new Date(now.getTime() - recentMs))).map((each) => ({
    event: 'agent_refused',
    tenantId: each.organizationId,
    item: each.item,
    about:
      each.location === null
        ? `A copy of ${quoted(each.name)} on the computer ${quoted(each.computer ?? '')}`
        : `${quoted(each.name)} at ${quoted(each.location)}`,
  }))
}

async function* findSilentAgents({ pool, now }: Watched): AsyncIterable<Finding[]> {
  for await (const ids of slices<AgentId>((after, limit) => listAgentIdsAfter(pool, after, limit))) {
    const rows = await listSilentAgents(pool, ids, new Date(now.getTime() - hoursMs))
    yield [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((places): Finding[] => {
      const silentAt = places.filter(
        (each) => each.locationId !== null && isLongAgo(each.lastContactAt ?? each.enrolledAt, each, now),
      )
      const at = silentAt.map(({ location }) => quoted(location)).join(', ')
      return silentAt.slice(0, 1).map(({ id: item, name, organizationId: tenantId }) => ({
        event: 'agent_silent',
        tenantId,
        item,
        about: `${quoted(name)} (${at})`,
      }))
    })
  }
}

/** What agents say is wrong, for longer than passes by itself. A silent agent has not said that it is over. */
async function findProblems({ pool, now }: Watched): Promise<Finding[]> {
  const troubled = await listTroubledAgents(pool, new Date(now.getTime() - lastsMs))
  const byAgent = Map.groupBy(troubled, ({ id }) => id)
  const problems = Map.groupBy(await listProblems(pool, [...byAgent.keys()]), ({ agentId }) => agentId)
  return [...byAgent].flatMap(([id, places]) =>
    groupProblems(problems.get(id) ?? []).flatMap(({ cause, what, todo, since, datasets, locationIds }): Finding[] => {
      const named = places.filter(({ locationId }) => locationId !== null && locationIds.includes(locationId))
      const lasting = (named.length > 0 ? named : places).find((place) => isLongAgo(since, place, now, lastsMs))
      if (!lasting) return []
      const of = datasets.length === 0 ? '' : `, ${datasets.join(', ')}`
      const at = named.length === 0 ? '' : ` at ${named.map(({ location }) => quoted(location)).join(', ')}`
      const about = `${quoted(lasting.name)}${of}${at}: ${what} ${todo.replace(/\.$/, '')}`
      return [{ event: 'agent_problem', tenantId: lasting.organizationId, item: `${id} ${cause}`, about }]
    }),
  )
}

/** By location, while its agent is heard: an agent that is silent has a finding of its own. */
async function* findUnread(watched: Watched): AsyncIterable<Finding[]> {
  for await (const ids of slices<LocationId>((after, limit) => listLocationIdsAfter(watched.pool, after, limit)))
    yield await findUnreadAt(watched, ids)
}

async function findUnreadAt({ pool, now }: Watched, locationIds: readonly LocationId[]): Promise<Finding[]> {
  const unread = await listUnreadDatasets(pool, locationIds, new Date(now.getTime() - hoursMs))
  const places = [...Map.groupBy(unread, ({ locationId }) => locationId).values()]
  const heardAt = new Set(
    places
      .flatMap((own) => own.slice(0, 1))
      .filter((each) => each.lastContactAt !== null && !isLongAgo(each.lastContactAt, each, now))
      .map(({ locationId }) => locationId),
  )
  const heard = unread.filter(({ locationId }) => heardAt.has(locationId))
  const behind = heard.filter((each) => !each.isComplete && now.getTime() - each.createdAt.getTime() > daysMs)
  const isTold = await toldReasons(pool, heard)
  const old = places.flatMap((own) => oldOf(own, now))
  const stale = old.filter((each) => heardAt.has(each.locationId) && !isTold(each))
  return [
    ...byLocation('agent_behind', behind),
    ...byLocation('dataset_stale', stale),
    ...(await findOldForReaders(pool, old, heardAt)),
  ]
}

/** Of a location's datasets those that were last read to the end long ago. Most often all or none: calendars are slow, so those are not asked for each. */
function oldOf(own: readonly WatchedDataset[], now: Date): WatchedDataset[] {
  const read = own.filter(({ isComplete, syncedAt }) => isComplete && syncedAt !== null)
  const isOld = (each: WatchedDataset | undefined) => !!each?.syncedAt && isLongAgo(each.syncedAt, each, now)
  const byAge = read.toSorted((one, other) => Number(one.syncedAt) - Number(other.syncedAt))
  if (isOld(byAge.at(-1))) return read
  return isOld(byAge[0]) ? read.filter(isOld) : []
}

async function* findClosed({ pool }: Watched): AsyncIterable<Finding[]> {
  for await (const ids of slices<LocationId>((after, limit) => listLocationIdsAfter(pool, after, limit)))
    yield await findClosedForReaders(pool, ids)
}

/**
 * Whether the agent said why it does not read a dataset before that was stale: then the reason is the notice. One that was stale before stays so.
 */
async function toldReasons(pool: Watched['pool'], datasets: readonly WatchedDataset[]) {
  const agentIds = [...new Set(datasets.flatMap(({ agentId }) => agentId ?? []))]
  const reasons = (await listProblems(pool, agentIds)).filter(({ code }) => keepsFromReading(code))
  const byAgent = Map.groupBy(reasons, ({ agentId }) => agentId)
  return ({ agentId, locationId, dataset, syncedAt, ...place }: WatchedDataset) =>
    (agentId === null ? [] : (byAgent.get(agentId) ?? [])).some(
      (reason) =>
        (reason.locationId ?? locationId) === locationId &&
        (reason.dataset ?? dataset) === dataset &&
        (syncedAt === null || !isLongAgo(syncedAt, place, reason.since)),
    )
}

function byLocation(event: ConditionEvent, datasets: readonly WatchedDataset[]): Finding[] {
  return [...Map.groupBy(datasets, ({ locationId }) => locationId)].flatMap(([item, own]) => {
    const names = own.map(({ dataset }) => dataset).join(', ')
    return own.slice(0, 1).map(({ organizationId: tenantId, location }) => ({
      event,
      tenantId,
      item,
      about: `${names} at ${quoted(location)}`,
    }))
  })
}

/** In the location's open time. */
function isLongAgo(moment: Date, place: OpenTimes, now: Date, ms = hoursMs): boolean {
  return now.getTime() - moment.getTime() > ms && openMsBetween(place, moment, now) > ms
}

async function* findRefusedSignIns({ pool, secretKey, now }: Watched): AsyncIterable<Finding[]> {
  const since = new Date(now.getTime() - hoursMs)
  const isRefused = await findRefused(pool, secretKey, { min: refusedMin, since })
  if (!isRefused) return
  for (let after: MemberId | undefined = noMember; after !== undefined; ) {
    const members: Awaited<ReturnType<typeof listMemberAddresses>> = await listMemberAddresses(pool, after, sliceMax)
    yield members
      .filter(({ email }) => isRefused(email))
      .map(({ id: item, tenantId, name }) => ({ event: 'sign_ins_refused', tenantId, item, about: quoted(name) }))
    after = members.at(-1)?.id
  }
}

const noMember = '00000000-0000-0000-0000-000000000000' as MemberId

/** Everything with an id, in their order, some at a time. */
async function* slices<Id extends string>(list: (after: Id, limit: number) => Promise<Id[]>): AsyncIterable<Id[]> {
  for (let after: Id | undefined = '0' as Id; after !== undefined; ) {
    const ids: Id[] = await list(after, sliceMax)
    if (ids.length > 0) yield ids
    after = ids.length < sliceMax ? undefined : ids.at(-1)
  }
}

const sliceMax = 1_000

async function findOverdueWork({ pool, now }: Watched): Promise<Finding[]> {
  const { rerendering, removals, mails } = await findBacklog(pool, new Date(now.getTime() - 30 * minutesMs))
  return [
    { count: rerendering, item: 'rerendering', about: 'records that a change alters' },
    { count: removals, item: 'removals', about: 'removals that fail' },
    { count: mails, item: 'mails', about: 'mails that the mail server does not take' },
  ]
    .filter(({ count }) => count > 0)
    .map(({ item, about }) => ({ event: 'backlog', tenantId: 'operator', item, about }))
}

/** Of the embedded database and the sandbox's mails. The disk of a database server is the server's own to watch. */
async function findFullDisk({ freeShare }: Watched): Promise<Finding[]> {
  const free = await freeShare()
  if (free === null || free >= freeShareMin) return []
  const about = `The disk of the data directory has ${Math.floor(free * 100)} % free`
  return [{ event: 'disk_full', tenantId: 'operator', item: '', about }]
}

/** How much of the disk on which a folder is, is free, from 0 to 1; null where there is no such folder. */
export async function freeShareOf(dir: string): Promise<number | null> {
  const disk = await statfs(dir).catch(() => null)
  return disk === null || disk.blocks === 0 ? null : disk.bavail / disk.blocks
}

async function findFailingDisclosures({ disclosureFailedAt, now }: Watched): Promise<Finding[]> {
  if (disclosureFailedAt === null || now.getTime() - disclosureFailedAt.getTime() > 15 * minutesMs) return []
  const about = `The last failure was at ${disclosureFailedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return [{ event: 'disclosures_failing', tenantId: 'operator', item: '', about }]
}

async function findOutdatedPostgres({ pool, now }: Watched): Promise<Finding[]> {
  const { rows } = await pool.query<{ number: number }>(
    `select current_setting('server_version_num')::integer as number`,
  )
  const about = outdatedPostgres(rows[0]?.number ?? 0, now)
  return about === null ? [] : [{ event: 'postgres_outdated', tenantId: 'operator', item: '', about }]
}
