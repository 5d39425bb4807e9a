import { randomUUID } from 'node:crypto'
import { type DatasetName, datasetNames, datasetsWithNotes } from '@bridgework/contract'
import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId, LocationId, OrganizationId } from '../../platform/identity/identity.ts'
import { recordAudit } from '../audit/store.ts'
import { requireCompany, shareCompany } from '../directory/company.ts'
import { listLocations } from '../directory/location.ts'
import { lockOrganization, requireOrganization } from '../directory/organization.ts'
import { type Access, atEachLocation, beyond, type Grant, normalized, without } from './access.ts'
import { accessFacts } from './access-facts.ts'
import { closeDatasets, openDatasets, setDatasetsEnd } from './dataset-grant.ts'
import { inForce } from './in-force.ts'
import { requestNoteRemovals } from './notes.ts'

/** Who grants what to whom. `by` says who decided, for the history of grants. */
export type GrantParties = {
  companyId: CompanyId
  organizationId: OrganizationId
  by: string
  /** What the whole access is for, and its end, from what they are now. Left out: they stay. */
  termsOf?: (now: GrantTerms) => GrantTerms
}

/** What a company's access to an organization is for, and when it ends; null: not said, and no end. */
export type GrantTerms = { purpose: string | null; endsAt: Date | null }

export type AccessChange = {
  before: Access
  after: Access
  /** What may be read after and not before, and the reverse, by location. With notes: the notes may, and perhaps the rest could before. */
  opened: Access
  closed: Access
  /** Whether the company may read more than before, now or at a future location, or for longer. */
  isWider: boolean
  terms: GrantTerms
}

/** A part of what an organization can grant. */
export type GrantScope = GrantParties & {
  /** 'all': the whole organization, with every location that it will ever have. */
  locationIds: readonly LocationId[] | 'all'
  /** 'all': every dataset of today's contract; one that is added later needs a new grant. */
  datasets: readonly DatasetName[] | 'all'
  /** Grants the notes of these datasets too, where they have any; to revoke: only the notes. */
  notes?: boolean
}

export type AlongsideAccess = (client: Queryable, change: AccessChange) => Promise<void>

export type Counted = { locations: number; datasets: number }

/**
 * Changes what a company may read, for what and until when, as a whole or not at all; in force with the commit, for the next request on every process. `wantedOf`
 * gets what is in force, and the organization's locations, while no other change of either can begin. What stays readable keeps its date
 * and stamp, also when another grant covers it now; with other notes it is a new grant, so the next delta returns all of it. `alongside` happens in the same transaction, before anything is written, and not at all
 * when there is nothing to change; what it throws ends the act. Throws a Problem.
 */
export async function changeAccess(
  pool: Pool,
  parties: GrantParties,
  wantedOf: (now: Access, locationIds: readonly LocationId[]) => Access,
  alongside: AlongsideAccess = async () => {},
): Promise<AccessChange> {
  const { companyId, organizationId } = parties
  return await withTransaction(pool, async (client) => {
    await lockOrganization(client, organizationId)
    await shareCompany(client, companyId)
    const locationIds = (await listLocations(client, organizationId)).map(({ id }) => id)
    await endExpired(client, parties)
    const live = await listGrants(client, parties)
    const before = normalized(live)
    const after = normalized(wantedOf(before, locationIds))
    requireOwn(after, locationIds)
    const [readable, wanted] = [atEachLocation(before, locationIds), atEachLocation(after, locationIds)]
    const [opened, closed] = [beyond(wanted, readable), beyond(readable, wanted)]
    const now = termsOf(live)
    const terms = parties.termsOf?.(now) ?? now
    const isLonger = after.length > 0 && before.length > 0 && endMs(terms) > endMs(now)
    const isWider = isLonger || opened.length > 0 || beyond(after, before).some(({ locationId }) => locationId === null)
    const change = { before, after, opened, closed, isWider, terms }
    const [ended, added] = [without(live, after), without(after, live)]
    const isSameTerms = live.length === 0 || (terms.purpose === now.purpose && endMs(terms) === endMs(now))
    if (ended.length === 0 && added.length === 0 && isSameTerms) return change
    await alongside(client, change)
    await endGrants(client, parties.by, ended)
    if (!isSameTerms) await saveTerms(client, parties, locationIds, terms)
    await insertGrants(client, parties, added, terms)
    await closeDatasets(client, companyId, without(readable, wanted))
    await openDatasets(client, companyId, without(wanted, readable), terms.endsAt)
    await requestNoteRemovals(client, closed)
    return change
  })
}

/** Lets a company read the scope beside what it may read already. `alongside` as of `changeAccess`. Returns what was opened. Throws a Problem. */
export async function grantAccess(pool: Pool, scope: GrantScope, alongside?: AlongsideAccess): Promise<Counted> {
  const datasets = namesOf(scope.datasets)
  const locationIds = scope.locationIds === 'all' ? [null] : scope.locationIds
  const granted = locationIds.flatMap((locationId) =>
    datasets.map((dataset) => ({
      locationId,
      dataset,
      notes: scope.notes === true && datasetsWithNotes.includes(dataset),
    })),
  )
  const { opened } = await changeAccess(pool, scope, (now) => [...now, ...granted], alongside)
  return counted(opened)
}

/**
 * Ends what a company may read of the scope. For the whole organization it ends the grants of single locations too. A single location that
 * is open because all are cannot be taken out: that would quietly decide about the locations of the future. `alongside` as of `changeAccess`.
 * Returns what was closed. Throws a Problem.
 */
export async function revokeAccess(pool: Pool, scope: GrantScope, alongside?: AlongsideAccess): Promise<Counted> {
  const datasets = new Set(namesOf(scope.datasets))
  const locationIds = scope.locationIds === 'all' ? null : new Set<LocationId | null>(scope.locationIds)
  const wantedOf = (now: Access, ownIds: readonly LocationId[]) => {
    const touched = now.filter(({ dataset }) => datasets.has(dataset))
    const ended = (grants: Access) => [
      ...without(now, grants),
      ...(scope.notes === true ? grants.map((grant) => ({ ...grant, notes: false })) : []),
    ]
    if (locationIds === null) return ended(touched)
    requireOwn(
      [...locationIds].map((locationId) => ({ locationId })),
      ownIds,
    )
    if (touched.some(({ locationId, notes }) => locationId === null && (notes || scope.notes !== true))) {
      throw new Problem('grant_covers_all_locations')
    }
    return ended(touched.filter(({ locationId }) => locationIds.has(locationId)))
  }
  const { closed } = await changeAccess(pool, scope, wantedOf, alongside)
  return counted(closed)
}

/** What a company may read of an organization now. */
export async function listAccess(
  db: Queryable,
  { companyId, organizationId }: Pick<GrantParties, 'companyId' | 'organizationId'>,
): Promise<Access> {
  const grants = await listGrants(db, { companyId, organizationId })
  return grants.map(({ locationId, dataset, notes }) => ({ locationId, dataset, notes }))
}

/** What a company's access to an organization is for, and its end. */
export async function findTerms(
  db: Queryable,
  parties: Pick<GrantParties, 'companyId' | 'organizationId'>,
): Promise<GrantTerms> {
  return termsOf(await listGrants(db, parties))
}

/**
 * Ends the grants that reached their end, exactly as a revocation does, with an act in both histories. Nothing can be read from the end on, also
 * before this has run: the clock is asked by every statement. Several processes may do it at once.
 */
export async function endExpiredGrants(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ company_id: CompanyId; organization_id: OrganizationId }>(
    `select distinct company_id, organization_id
       from access_grant
      where revoked_at is null and ends_at is not null and ends_at <= statement_timestamp()`,
  )
  for (const { company_id: companyId, organization_id: organizationId } of rows) {
    await withTransaction(pool, async (client) => {
      await lockOrganization(client, organizationId)
      await endExpired(client, { companyId, organizationId })
    })
  }
}

/** All grants of a company at an organization have one end, so what has ended is all of it. Call it under `lockOrganization`. */
async function endExpired(
  client: Queryable,
  { companyId, organizationId }: Pick<GrantParties, 'companyId' | 'organizationId'>,
): Promise<void> {
  const expired = await listGrants(client, { companyId, organizationId }, expiredAlone)
  if (expired.length === 0) return
  const locations = await listLocations(client, organizationId)
  const access = normalized(expired)
  const readable = atEachLocation(
    access,
    locations.map(({ id }) => id),
  )
  await endGrants(client, endedByClock, expired)
  await closeDatasets(client, companyId, readable)
  await requestNoteRemovals(client, readable)
  const [company, organization] = [
    await requireCompany(client, companyId),
    await requireOrganization(client, organizationId),
  ]
  const act = { userId: null, actor: 'Bridgework', action: 'grant.end', ip: null, requestId: null } as const
  const what = accessFacts(access, locations)
  for (const [side, tenantId, other] of [
    ['organization', organizationId, company],
    ['company', companyId, organization],
  ] as const) {
    await recordAudit(client, { ...act, side, tenantId, facts: { other, access: what } })
  }
}

/** Who ended a grant that reached its end, for the history of grants. */
const endedByClock = 'end date'

/** The companies that an organization grants something. */
export async function companiesWithAccess(db: Queryable, organizationId: OrganizationId): Promise<CompanyId[]> {
  const { rows } = await db.query<{ company_id: CompanyId }>(
    `select distinct company_id from access_grant g where organization_id = $1 and ${inForce('g')}`,
    [organizationId],
  )
  return rows.map((row) => row.company_id)
}

/** The organizations that grant a company something. */
export async function organizationsGranting(db: Queryable, companyId: CompanyId): Promise<OrganizationId[]> {
  const { rows } = await db.query<{ organization_id: OrganizationId }>(
    `select distinct organization_id from access_grant g where company_id = $1 and ${inForce('g')}`,
    [companyId],
  )
  return rows.map((row) => row.organization_id)
}

function requireOwn(grants: readonly Pick<Grant, 'locationId'>[], ownIds: readonly LocationId[]): void {
  const own = new Set<LocationId | null>([null, ...ownIds])
  const foreign = grants.find(({ locationId }) => !own.has(locationId))
  if (foreign)
    throw new Problem('location_unknown', { errors: `The organization has no location ${foreign.locationId}.` })
}

function namesOf(datasets: GrantScope['datasets']): readonly DatasetName[] {
  return datasets === 'all' ? datasetNames : datasets
}

function counted(access: Access): Counted {
  return { locations: new Set(access.map(({ locationId }) => locationId)).size, datasets: access.length }
}

const expiredAlone = 'g.revoked_at is null and g.ends_at <= statement_timestamp()'

type LiveGrant = Grant & GrantTerms & { id: string }

async function listGrants(
  db: Queryable,
  { companyId, organizationId }: Pick<GrantParties, 'companyId' | 'organizationId'>,
  condition = inForce('g'),
): Promise<LiveGrant[]> {
  const { rows } = await db.query<RowOf<LiveGrant>>(
    `select id, location_id, dataset, notes, purpose, ends_at
       from access_grant g
      where organization_id = $1 and company_id = $2 and ${condition}`,
    [organizationId, companyId],
  )
  return rows.map((row) => fromRow<LiveGrant>(row))
}

/** They are the same for all grants of a company at an organization. */
function termsOf([any]: readonly LiveGrant[]): GrantTerms {
  return { purpose: any?.purpose ?? null, endsAt: any?.endsAt ?? null }
}

function endMs({ endsAt }: GrantTerms): number {
  return endsAt?.getTime() ?? Number.POSITIVE_INFINITY
}

async function saveTerms(
  client: Queryable,
  { companyId, organizationId }: GrantParties,
  locationIds: readonly LocationId[],
  { purpose, endsAt }: GrantTerms,
): Promise<void> {
  await client.query(
    `update access_grant set purpose = $3, ends_at = $4
      where organization_id = $1 and company_id = $2 and revoked_at is null`,
    [organizationId, companyId, purpose, endsAt],
  )
  await setDatasetsEnd(client, companyId, locationIds, endsAt)
}

/** By id: a join with the ended pairs may be planned as a loop over thousands of them for each grant, and takes a minute then. */
async function endGrants(client: Queryable, by: string, ended: readonly { id: string }[]): Promise<void> {
  await client.query(
    `with moment as (select statement_timestamp() as at)
     update access_grant
        set revoked_at = moment.at, revoked_by = $1
       from moment
      where id = any($2::uuid[]) and revoked_at is null`,
    [by, ended.map(({ id }) => id)],
  )
}

async function insertGrants(
  client: Queryable,
  parties: GrantParties,
  added: Access,
  { purpose, endsAt }: GrantTerms,
): Promise<void> {
  await client.query(
    `insert into access_grant (id, company_id, organization_id, location_id, dataset, notes, granted_at, granted_by, purpose, ends_at)
     select added.id, $1, $2, added.location_id, added.dataset, added.notes, statement_timestamp(), $3, $8, $9
       from unnest($4::uuid[], $5::bigint[], $6::text[], $7::boolean[]) as added (id, location_id, dataset, notes)`,
    [
      parties.companyId,
      parties.organizationId,
      parties.by,
      added.map(() => randomUUID()),
      added.map(({ locationId }) => locationId),
      added.map(({ dataset }) => dataset),
      added.map(({ notes }) => notes),
      purpose,
      endsAt,
    ],
  )
}
