import { isTimeZone } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { requireText } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { newNumericId, type OrganizationId } from '../../platform/identity/identity.ts'
import { requireName } from './name.ts'

/** A practice owner: one or more locations belong to it, and it decides which companies may read them. */
export type Organization = {
  id: OrganizationId
  name: string
  externalReference: string | null
  timeZone: string | null
  country: string | null
  createdAt: Date
  updatedAt: Date
}

/** Makes an organization without locations; its agent will find them. Throws a Problem for a field that cannot be. */
export async function createOrganization(
  db: Queryable,
  organization: { name: string; externalReference?: string; timeZone?: string; country?: string },
): Promise<Organization> {
  const { rows } = await db.query<OrganizationRow>(
    `insert into organization (id, name, external_reference, time_zone, country)
     values ($1, $2, $3, $4, $5)
     returning ${organizationColumns}`,
    [
      newNumericId<OrganizationId>(),
      requireName(organization.name, 'the name of an organization'),
      organization.externalReference === undefined
        ? null
        : requireText(organization.externalReference, 'the reference'),
      organization.timeZone === undefined ? null : requireTimeZone(organization.timeZone),
      organization.country === undefined ? null : requireCountry(organization.country),
    ],
  )
  if (!rows[0]) throw new Error('the organization was not stored')
  return fromRow<Organization>(rows[0])
}

/** Changes its name, and its time zone where one is given (null: none). Throws a Problem. */
export async function updateOrganization(
  db: Queryable,
  id: OrganizationId,
  changes: { name: string; timeZone?: string | null | undefined },
): Promise<void> {
  const name = requireName(changes.name, 'the name of an organization')
  const timeZone = typeof changes.timeZone === 'string' ? requireTimeZone(changes.timeZone) : changes.timeZone
  const { rowCount } = await db.query(
    `with locked as (select id, clock_timestamp() as at from organization where id = $1 for no key update)
     update organization o
        set name = $2, time_zone = case when $3 then $4 else time_zone end, updated_at = locked.at
       from locked
      where o.id = locked.id`,
    [id, name, timeZone !== undefined, timeZone ?? null],
  )
  if (rowCount === 0) throw new Problem('organization_unknown', { errors: `There is no organization ${id}.` })
}

/** When the first steps on the overview of an organization were dismissed; null: never. */
export async function firstStepsDismissedAt(db: Queryable, id: OrganizationId): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date | null }>(
    'select first_steps_dismissed_at as at from organization where id = $1',
    [id],
  )
  return rows[0]?.at ?? null
}

/** Hides the first steps on the overview of an organization for good. */
export async function dismissFirstSteps(db: Queryable, id: OrganizationId): Promise<void> {
  await db.query(
    `with moment as (select clock_timestamp() as at)
     update organization set first_steps_dismissed_at = moment.at
       from moment
      where id = $1 and first_steps_dismissed_at is null`,
    [id],
  )
}

/** Whether the agents of an organization take the releases that the operator publishes. */
export async function takesAgentUpdates(db: Queryable, id: OrganizationId): Promise<boolean> {
  const { rows } = await db.query<{ takes: boolean }>('select agent_updates as takes from organization where id = $1', [
    id,
  ])
  return rows[0]?.takes === true
}

/** From now on the agents of an organization take published releases, or take none. False when that is so already. */
export async function setAgentUpdates(db: Queryable, id: OrganizationId, isOn: boolean): Promise<boolean> {
  const { rowCount } = await db.query(
    'update organization set agent_updates = $2 where id = $1 and agent_updates <> $2',
    [id, isOn],
  )
  return rowCount === 1
}

/** Every organization, by name. */
export async function listOrganizations(db: Queryable): Promise<Organization[]> {
  const { rows } = await db.query<OrganizationRow>(
    `select ${organizationColumns} from organization order by lower(name), id`,
  )
  return rows.map(fromRow<Organization>)
}

/** Whether the external reference of any organization begins so. */
export async function hasOrganizationOf(db: Queryable, reference: string): Promise<boolean> {
  const { rows } = await db.query('select from organization where starts_with(external_reference, $1) limit 1', [
    reference,
  ])
  return rows.length > 0
}

export async function findOrganization(db: Queryable, id: OrganizationId): Promise<Organization | null> {
  const { rows } = await db.query<OrganizationRow>(`select ${organizationColumns} from organization where id = $1`, [
    id,
  ])
  return rows[0] ? fromRow<Organization>(rows[0]) : null
}

/**
 * When a day of the form 2026-12-31 is over on the clock of the organization. Throws Problem field_invalid for what is no day, for one that is not in
 * the next ten years, and where the organization has no time zone.
 */
export async function endOfDay(db: Queryable, id: OrganizationId, day: string): Promise<Date> {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true
  if (!isDay) throw new Problem('field_invalid', { errors: 'The end must be a day like 2027-12-31.' })
  const { rows } = await db.query<{ at: Date | null; is_near: boolean }>(
    `select at, at > now() and at < now() + interval '10 years' as is_near
       from (select ($2::date + 1)::timestamp at time zone time_zone as at from organization where id = $1) ending`,
    [id, day],
  )
  if (!rows[0]) throw new Problem('organization_unknown', { errors: `There is no organization ${id}.` })
  const { at, is_near } = rows[0]
  if (at === null)
    throw new Problem('field_invalid', {
      errors:
        'The last day ends at midnight in the time zone of the practice, which has none. Set it in its settings first.',
    })
  if (!is_near) throw new Problem('field_invalid', { errors: 'The end must be today or later, and within ten years.' })
  return at
}

/** The last day before an end of `endOfDay`, on the clock of the organization. */
export function lastDayOf({ timeZone }: Pick<Organization, 'timeZone'>, endsAt: Date): string {
  const before = Temporal.Instant.fromEpochMilliseconds(endsAt.getTime() - 1)
  return before
    .toZonedDateTimeISO(timeZone ?? 'UTC')
    .toPlainDate()
    .toString()
}

/** The names of these organizations, by id. */
export async function organizationNames(
  db: Queryable,
  ids: readonly OrganizationId[],
): Promise<Map<OrganizationId, string>> {
  const { rows } = await db.query<{ id: OrganizationId; name: string }>(
    'select id, name from organization where id = any($1::bigint[])',
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row.name]))
}

/** The organization; throws a Problem when there is none. */
export async function requireOrganization(db: Queryable, id: OrganizationId): Promise<Organization> {
  const organization = await findOrganization(db, id)
  if (!organization) throw new Problem('organization_unknown', { errors: `There is no organization ${id}.` })
  return organization
}

/**
 * Holds an organization until the transaction ends, so that of its new locations and its grants one comes after the other: a location
 * that appears while the whole organization is being granted is opened by one of the two. Throws a Problem when there is none, or it was
 * erased.
 */
export async function lockOrganization(client: Queryable, id: OrganizationId): Promise<void> {
  const { rows } = await client.query<{ name: string; erased_at: Date | null }>(
    'select name, erased_at from organization where id = $1 for no key update',
    [id],
  )
  if (!rows[0]) throw new Problem('organization_unknown', { errors: `There is no organization ${id}.` })
  const { name, erased_at: erasedAt } = rows[0]
  if (erasedAt === null) return
  throw new Problem('organization_erased', {
    errors: `The organization ${name} was erased on ${erasedAt.toISOString().slice(0, 10)}. Create a new one.`,
  })
}

export const organizationColumns = 'id, name, external_reference, time_zone, country, created_at, updated_at'

export type OrganizationRow = RowOf<Organization>

/** The name, when it is one of the IANA database that says what the offset is on any day; throws a Problem for any other. */
export function requireTimeZone(name: string): string {
  if (isTimeZone(name)) return name
  throw new Problem('field_invalid', { errors: 'The time zone must be an IANA name like America/New_York.' })
}

function requireCountry(code: string): string {
  if (!/^[A-Z]{2}$/.test(code))
    throw new Problem('field_invalid', { errors: 'The country must be a code of two letters such as US (ISO 3166-1).' })
  return code
}
