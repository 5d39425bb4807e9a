import { getDataset } from '@bridgework/contract'
import type {
  FirstSync,
  LocationEntry,
  LocationWriter,
  PortalAnswers,
  TimelineRange,
} from '@bridgework/contract/portal'
import { listProblems } from '../../../modules/agents/heartbeat.ts'
import { listWriters, type LocationWriter as Writer } from '../../../modules/agents/location-writer.ts'
import { problemWords } from '../../../modules/agents/problem-words.ts'
import { listDatasetStates } from '../../../modules/datasets/dataset-state.ts'
import { freshnessOf, oldestOf, type SyncTimes } from '../../../modules/datasets/freshness.ts'
import { createTimelines, listSyncActivity } from '../../../modules/datasets/sync-activity.ts'
import { type Location, listLocations } from '../../../modules/directory/location.ts'
import { listRemovals } from '../../../modules/records/removals/removal-store.ts'
import type { LocationId, OrganizationId } from '../../../platform/identity/identity.ts'
import { toShown } from '../shared/agent-problems.ts'
import { readingsOf } from '../shared/agent-reading.ts'
import type { PortalContext } from '../shared/context.ts'
import { type ListPage, toListed } from '../shared/list.ts'

/** A page of the practice's locations, by name, each with how current its datasets are. `search` looks in names and addresses. */
export async function locationsPage(
  context: PortalContext,
  organizationId: OrganizationId,
  page: ListPage,
): Promise<PortalAnswers['listLocations']> {
  const wanted = page.search.toLowerCase()
  const found = (await listLocations(context.pool, organizationId)).filter((location) =>
    `${location.name}\n${location.sourceId}\n${addressOf(location)}`.toLowerCase().includes(wanted),
  )
  const shown = found.slice(page.offset, page.offset + page.limit)
  return toListed(page, found.length, await entriesOf(context, shown))
}

/** At how many of these locations a second agent was refused within a day. */
export async function countWithTwoAgents(
  { pool, now }: PortalContext,
  locationIds: readonly LocationId[],
): Promise<number> {
  const writers = [...(await listWriters(pool, locationIds)).values()]
  return writers.filter((writer) => toWriter(writer, now())?.refused).length
}

/** One location with the timeline of each dataset's freshness. */
export async function locationPage(
  context: PortalContext,
  location: Location,
  range: TimelineRange,
): Promise<PortalAnswers['getLocation']> {
  const { cellMs, cells } = ranges[range]
  const { since, timelineOf } = createTimelines(location, { cellMs, cells }, context.now())
  const [[entry], activity] = await Promise.all([
    entriesOf(context, [location]),
    listSyncActivity(context.pool, location.id, since),
  ])
  if (!entry) throw new Error('the location is gone')
  const provided = entry.datasets.filter(({ state }) => state !== 'not_provided')
  const timeline = provided.map(({ dataset, initial_sync_completed_at: firstSync }) => ({
    dataset,
    cells: timelineOf(activity.get(dataset) ?? [], firstSync === null ? null : new Date(firstSync)).map(
      ({ at, ...cell }) => ({ at: at.toISOString(), ...cell }),
    ),
  }))
  const writers = await listWriters(context.pool, [location.id])
  const problems = (await problemsAt(context.pool, writers))(location.id)
  const writer = writers.get(location.id)
  const reading = writer ? (await readingsOf(context, [writer.agentId]))(writer.agentId) : null
  return {
    ...entry,
    range,
    cell_seconds: cellMs / 1000,
    timeline,
    problems: toShown(problems, []),
    reading,
  }
}

/** What the living writer of a location says of it, or of all that it reads. */
async function problemsAt(pool: PortalContext['pool'], writers: ReadonlyMap<LocationId, Writer>) {
  const living = [...writers.values()].filter(({ isRevoked }) => !isRevoked)
  const all = await listProblems(pool, [...new Set(living.map(({ agentId }) => agentId))])
  return (id: LocationId) => {
    const writer = living.find(({ locationId }) => locationId === id)
    return all
      .filter(({ agentId, locationId }) => agentId === writer?.agentId && (locationId === null || locationId === id))
      .map((problem) => ({ ...problem, what: problemWords(problem).what }))
  }
}

/** How far the first syncs of these locations are. */
export async function firstSyncs(
  context: PortalContext,
  locations: readonly { locationId: LocationId; name: string }[],
): Promise<FirstSync[]> {
  const ids = locations.map(({ locationId }) => locationId)
  const [states, writers] = await Promise.all([listDatasetStates(context.pool, ids), listWriters(context.pool, ids)])
  const readingOf = await readingsOf(context, [...new Set([...writers.values()].map(({ agentId }) => agentId))])
  return locations.map(({ locationId, name }) => {
    const provided = [...(states.get(locationId)?.values() ?? [])].filter(({ isProvided }) => isProvided)
    const writer = writers.get(locationId)
    return {
      location_id: locationId,
      name,
      datasets: provided.length,
      complete: provided.filter(({ initialSyncCompletedAt }) => initialSyncCompletedAt !== null).length,
      reading: writer && !writer.isRevoked ? readingOf(writer.agentId) : null,
    }
  })
}

const ranges: Record<TimelineRange, { cellMs: number; cells: number }> = {
  '24h': { cellMs: 15 * 60_000, cells: 96 },
  '7d': { cellMs: 2 * 60 * 60_000, cells: 84 },
}

/** How current each of these locations is, by dataset. */
export async function entriesOf(
  { pool, lastContactOf, now }: PortalContext,
  locations: readonly Location[],
): Promise<LocationEntry[]> {
  const ids = locations.map((location) => location.id)
  const [states, removals, writers] = await Promise.all([
    listDatasetStates(pool, ids),
    listRemovals(pool, ids),
    listWriters(pool, ids),
  ])
  const problems = await problemsAt(pool, writers)
  const removalAt = new Map(removals.map((removal) => [`${removal.locationId} ${removal.dataset}`, removal.state]))
  return await Promise.all(
    locations.map(async (location) => {
      const stateOf = (times: SyncTimes) =>
        freshnessOf(times, location, () => lastContactOf(location.organizationId), now())
      const own = [...(states.get(location.id) ?? [])]
      return {
        id: location.id,
        source_id: location.sourceId,
        name: location.name,
        address: addressOf(location) || null,
        time_zone: location.timeZone,
        assigned_time_zone: location.assignedTimeZone,
        website_url: location.websiteUrl,
        is_active: location.isActive,
        closed_at: location.closedAt?.toISOString() ?? null,
        practice_management_system: location.practiceManagementSystem,
        writer: toWriter(writers.get(location.id), now()),
        state: await stateOf(oldestOf(own.map(([, state]) => state))),
        datasets: await Promise.all(
          own.map(async ([dataset, state]) => ({
            dataset,
            title: getDataset(dataset).title,
            state: await stateOf(state),
            synced_at: state.syncedAt?.toISOString() ?? null,
            initial_sync_completed_at: state.initialSyncCompletedAt?.toISOString() ?? null,
            total: state.total,
            visible: state.visible,
            attributes_not_provided: [...state.attributesNotProvided],
            removal: removalAt.get(`${location.id} ${dataset}`) ?? null,
            problem: problems(location.id).find(({ dataset: name }) => name === dataset)?.what ?? null,
          })),
        ),
      }
    }),
  )
}

function toWriter(writer: Writer | undefined, now: Date): LocationWriter | null {
  if (!writer) return null
  const { refusedAgentId, refusedName, refusedAt } = writer
  const isRefused = refusedAgentId !== null && refusedName !== null && refusedAt !== null
  return {
    agent_id: writer.agentId,
    name: writer.name,
    last_contact_at: writer.lastContactAt?.toISOString() ?? null,
    since: writer.takenAt.toISOString(),
    is_revoked: writer.isRevoked,
    refused:
      isRefused && now.getTime() - refusedAt.getTime() < refusedShownMs
        ? { agent_id: refusedAgentId, name: refusedName, at: refusedAt.toISOString() }
        : null,
  }
}

/** An agent that has not asked for a day was stopped. */
const refusedShownMs = 24 * 60 * 60_000

function addressOf(location: Location): string {
  const place = [location.state, location.postalCode].filter(Boolean).join(' ')
  return [location.addressLine1, location.addressLine2, location.city, place].filter(Boolean).join(', ')
}
