import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import { askPrepared, plainArray, plainValues, type TextRow } from '../../platform/database/hot/prepared.ts'
import { type AskTogether, askTogether } from '../../platform/database/hot/together.ts'
import { Problem } from '../../platform/errors/problem.ts'
import {
  type CompanyId,
  type KeyPairId,
  type LocationId,
  type OrganizationId,
  parseNumericId,
} from '../../platform/identity/identity.ts'
import { currentEpoch } from '../agents/epoch.ts'
import type { VerifiedToken } from '../credentials/access-token.ts'
import { agreementAccepted } from '../credentials/agreement.ts'
import { type DatasetState, type DatasetStateRow, toDatasetState } from '../datasets/dataset-state.ts'
import type { Stamp } from '../datasets/stamp.ts'
import type { OfficeHours, OpenTimes } from '../directory/office-hours.ts'
import { drawGrantStamp } from './dataset-grant.ts'
import { notEnded } from './in-force.ts'

/** Proof that the bearer's key pair, company and agreement were alive when this request asked. Only `requirePrincipal` makes one. */
export type Principal = {
  readonly brand: 'Principal'
  readonly companyId: CompanyId
  readonly keyPairId: KeyPairId
  /** The name of the time since the database was made or last restored. */
  readonly epoch: string
}

/** Proof that this company may read this dataset of this location now. Only `permitRead` makes one. */
export type ReadPermit = {
  readonly brand: 'ReadPermit'
  readonly companyId: CompanyId
  readonly keyPairId: KeyPairId
  readonly organizationId: OrganizationId
  readonly locationId: LocationId
  readonly openTimes: OpenTimes
  readonly dataset: DatasetName
  /** Whether the notes of the records are granted too. */
  readonly notes: boolean
  /**
   * The dataset's stamp that the company's first read drew: a delta from before it returns the whole dataset. Infinity while a writer's turn
   * kept it from being drawn.
   */
  readonly grantedStamp: Stamp
  readonly grantedAt: Date
  /** As it stood before any page is read: a watermark made of it is never too late. */
  readonly state: DatasetState
  /** The name of the time since the database was made or last restored. */
  readonly epoch: string
  /** The database's clock in microseconds. */
  readonly databaseNow: number
  /**
   * The locations of which the company had incremental requests in flight at that moment, or of the type that was asked for with a statement of the
   * caller's: what takes no slot asks for one.
   */
  readonly locationsInFlight: readonly LocationId[]
}

/**
 * The only way to a record. `locationId` is the path's text as it came. Refuses in the order of docs/errors.md: token, agreement,
 * location (a malformed id is one that does not exist), preview, grant of the location, grant of the dataset.
 *
 * This one statement reads the tables of four nouns (directory, access, records, throttle), which otherwise ask each other through functions:
 * it runs before every read, and asking one by one would cost four round trips and see four moments. On a cluster it goes to one node:
 * the large tables are given their location_id, the others are on every node. Prepared once per connection; all lookups by primary key.
 * `drawOn`: where a grant's stamp is drawn, which may wait a second for a writer. `ask`: asks for the row with a statement of the caller's, which must
 * select `permitOfOne`.
 */
export async function permitRead(
  pool: Pool,
  token: VerifiedToken,
  locationId: string,
  dataset: DatasetName,
  options: { previewOff: boolean; drawOn?: Pool; ask?: AskForPermit },
): Promise<ReadPermit> {
  // No location has the id 0. Asked for all the same, because a dead token is answered first, whatever the path says.
  const parsedId = parseNumericId<LocationId>(locationId)
  const row = toPermitRow(
    await (options.ask ?? askForPermit)(pool, {
      locationId: parsedId ?? '0',
      companyId: token.companyId,
      keyPairId: token.keyPairId,
      dataset,
    }),
  )
  requireLive(row)
  if (parsedId === null || row.organization_id === null) throw new Problem('location_unknown')
  if (options.previewOff) throw new Problem('preview_off')
  if (!row.has_location) throw new Problem('location_denied')
  if (row.granted_at === null) throw new Problem('dataset_denied')
  if (row.first_stamp === null || row.last_stamp === null) throw new Error('a granted dataset has no state')
  if (row.granted_stamp === null) {
    const grant = { companyId: token.companyId, locationId: parsedId, dataset }
    // The state that was read is from before the stamp, so the permit is asked for again.
    if (await drawGrantStamp(options.drawOn ?? pool, grant))
      return await permitRead(pool, token, locationId, dataset, options)
  }
  return {
    brand: 'ReadPermit',
    companyId: token.companyId,
    locationId: parsedId,
    dataset,
    keyPairId: token.keyPairId,
    organizationId: row.organization_id,
    openTimes: { timeZone: row.time_zone, officeHours: row.office_hours },
    grantedStamp: row.granted_stamp === null ? Number.POSITIVE_INFINITY : Number(row.granted_stamp),
    grantedAt: row.granted_at,
    notes: row.has_notes,
    // The row of a state has no empty columns but those that a state may lack.
    state: toDatasetState(row as DatasetStateRow),
    epoch: row.epoch,
    databaseNow: Number(row.database_now),
    locationsInFlight: row.in_flight ?? [],
  }
}

/** The same checks of the bearer for operations that belong to no location. Throws token_invalid or agreement_required. */
export async function requirePrincipal(pool: Pool, token: VerifiedToken): Promise<Principal> {
  const { rows } = await pool.query<LivenessRow & { epoch: string }>({
    name: 'require-principal',
    text: `select k.id is not null as is_live, ${agreementAccepted('$2')} as has_agreement, ${currentEpoch} as epoch
             from (values (1)) one
             ${bearer('$1', '$2')}`,
    values: [token.keyPairId, token.companyId],
  })
  if (!rows[0]) throw new Error('the principal statement returned no row')
  requireLive(rows[0])
  return { brand: 'Principal', companyId: token.companyId, keyPairId: token.keyPairId, epoch: rows[0].epoch }
}

type LivenessRow = { is_live: boolean; has_agreement: boolean }

type PermitRow = LivenessRow & { [column in keyof DatasetStateRow]: DatasetStateRow[column] | null } & {
  organization_id: OrganizationId | null
  time_zone: string | null
  office_hours: OfficeHours | null
  has_location: boolean
  granted_stamp: string | null
  granted_at: Date | null
  has_notes: boolean
  epoch: string
  database_now: string
  in_flight: LocationId[] | null
}

/** The live key pair of an active company, or nulls. A pair of another company than the token's is no pair. */
function bearer(keyPair: '$1' | 'one.key_pair_id', company: '$2' | 'one.company_id'): string {
  return `left join (key_pair k join company c on c.id = k.company_id and c.state = 'active')
               on k.id = ${keyPair} and k.company_id = ${company} and k.revoked_at is null`
}

/** What one request asks of the permit statement. */
export type AskedPermit = { locationId: string; companyId: CompanyId; keyPairId: KeyPairId; dataset: DatasetName }
/** Resolves with the columns of `permitOfOne`, and whatever follows them. */
export type AskForPermit = AskTogether<AskedPermit, TextRow>

export const askForPermit: AskForPermit = askTogether((pool, batch) =>
  askPrepared(
    pool,
    batch.length === 1
      ? { name: 'permit-read', text: permitStatement, values: columnsOf(batch).flat() }
      : { name: 'permits-read', text: permitsStatement, values: columnsOf(batch).map(plainArray) },
  ),
)

/** The values of `one` of each, in the order of its columns. */
export function columnsOf(batch: readonly AskedPermit[]): string[][] {
  return [
    batch.map(({ locationId }) => locationId),
    batch.map(({ companyId }) => companyId),
    batch.map(({ keyPairId }) => keyPairId),
    batch.map(({ dataset }) => dataset),
  ]
}

/** The columns in the order of `permitColumns`. */
function toPermitRow([
  isLive,
  hasAgreement,
  organizationId,
  timeZone,
  officeHours,
  hasLocation,
  grantedStamp,
  grantedAt,
  hasNotes,
  firstStamp,
  lastStamp,
  total,
  visible,
  syncedAt,
  initialSyncCompletedAt,
  isProvided,
  epoch,
  databaseNow,
  inFlight,
]: TextRow): PermitRow {
  if (!epoch || !databaseNow) throw new Error('the permit statement answered too few columns')
  return {
    is_live: isLive === 't',
    has_agreement: hasAgreement === 't',
    organization_id: (organizationId as OrganizationId | null | undefined) ?? null,
    time_zone: timeZone ?? null,
    office_hours: officeHours ? (JSON.parse(officeHours) as OfficeHours) : null,
    has_location: hasLocation === 't',
    granted_stamp: grantedStamp ?? null,
    granted_at: toDate(grantedAt),
    has_notes: hasNotes === 't',
    first_stamp: firstStamp ?? null,
    last_stamp: lastStamp ?? null,
    total: total ?? null,
    visible: visible ?? null,
    synced_at: toDate(syncedAt),
    initial_sync_completed_at: toDate(initialSyncCompletedAt),
    is_provided: isProvided === 't',
    epoch,
    database_now: databaseNow,
    in_flight: inFlight ? (plainValues(inFlight) as LocationId[]) : null,
  }
}

/** From `milliseconds`. */
function toDate(text: string | null | undefined): Date | null {
  return text ? new Date(Number(text)) : null
}

/** A moment as a number's text, whatever the session's time zone and date style. As a double it has its microseconds, and costs less than as a numeric. */
function microseconds(moment: string): string {
  return `round(date_part('epoch', ${moment}) * 1000000)::bigint`
}

function milliseconds(moment: string): string {
  return `${microseconds(moment)} / 1000`
}

/** The columns of one row for `one` row of a location, a company, a key pair and a dataset, whatever of them there is. */
const permitColumns = (syncType: string) =>
  ({
    is_live: 'k.id is not null',
    has_agreement: agreementAccepted('one.company_id'),
    organization_id: 'l.organization_id',
    time_zone: 'l.time_zone',
    office_hours: 'l.office_hours',
    has_location: `g.location_id is not null
           or exists (select 1 from dataset_grant other
                       where other.location_id = one.location_id and other.company_id = one.company_id and ${notEnded('other')})`,
    granted_stamp: 'g.granted_stamp',
    granted_at: milliseconds('g.granted_at'),
    has_notes: 'g.notes_since is not null',
    first_stamp: 's.first_stamp',
    last_stamp: 's.last_stamp',
    total: 's.total',
    visible: 's.visible',
    synced_at: milliseconds('s.synced_at'),
    initial_sync_completed_at: milliseconds('s.initial_sync_completed_at'),
    is_provided: 's.is_provided',
    epoch: currentEpoch,
    database_now: microseconds('clock_timestamp()'),
    in_flight: `(select array_agg(distinct slot.location_id)
            from sync_slot slot
           where slot.company_id = one.company_id and slot.sync_type = ${syncType}
             and slot.expires_at > clock_timestamp())`,
  }) satisfies Record<keyof PermitRow, string>
const selectedColumns = (syncType = "'incremental'") =>
  Object.entries(permitColumns(syncType))
    .map(([name, expression]) => `${expression} as ${name}`)
    .join(',\n         ')
const permitJoins = `
    ${bearer('one.key_pair_id', 'one.company_id')}
    left join location l on l.id = one.location_id
    left join dataset_grant g
      on g.location_id = one.location_id and g.company_id = one.company_id and g.dataset = one.dataset and ${notEnded('g')}
    left join dataset_state s on s.location_id = one.location_id and s.dataset = one.dataset`

const permitStatement = `
  select ${selectedColumns()}
    from (values ($1::bigint, $2::uuid, $3::uuid, $4::text)) one (location_id, company_id, key_pair_id, dataset)
    ${permitJoins}`

/**
 * A permit's row for `one` row, as a sub-select to join laterally. `syncType`: an expression for what of the company is counted in flight. The limit keeps PostgreSQL from joining all at once, for which it would read small
 * tables through: a few hundred grants took it longer than everything else.
 */
export const permitOfOne = (syncType?: string) => `(
     select ${selectedColumns(syncType)}
       from (values (1)) always
       ${permitJoins}
      limit 1)`

/** The names of its columns, in their order. */
export const permitColumnNames = Object.keys(permitColumns('')).join(', ')

/**
 * The same for several, in their order. The sub-selects hide the values from the planner. With them it expects fewer rows, and plans the statement anew
 * at each call: that takes it twice as long as to run it.
 */
const permitsStatement = `
  select permit.*
    from unnest((select $1::bigint[]), (select $2::uuid[]), (select $3::uuid[]), (select $4::text[])) with ordinality
           as one (location_id, company_id, key_pair_id, dataset, place)
   cross join lateral ${permitOfOne()} permit
   order by one.place`

function requireLive(row: LivenessRow): void {
  if (!row.is_live) throw new Problem('token_invalid', { because: 'key pair revoked or company not active' })
  if (!row.has_agreement) throw new Problem('agreement_required')
}
