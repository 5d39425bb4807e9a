import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { requireText, violates } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'
import {
  type CompanyId,
  newUuid,
  type OrganizationId,
  parseUuid,
  type RequestId,
} from '../../platform/identity/identity.ts'
import { lockCompany } from '../directory/company.ts'

/** States: open → granted (as asked or less), declined or withdrawn, for ever. */
type RequestState = 'open' | 'granted' | 'declined' | 'withdrawn'

/** A company's request for access to a practice's data. */
export type AccessRequest = {
  id: RequestId
  companyId: CompanyId
  organizationId: OrganizationId
  datasets: DatasetName[]
  allLocations: boolean
  /** Which locations, in the company's words: it sees no list of them. Null where it asks for all. */
  locations: string | null
  purpose: string
  askedAt: Date
  askedBy: string
  state: RequestState
  endedAt: Date | null
  endedBy: string | null
  /** What the practice said with its answer. */
  message: string | null
  /** When the practice let the company ask again before the 30 days are over. */
  invitedAt: Date | null
}

const repeatedAfterDays = 30
const perDayMax = 20
const listedMax = 100

/**
 * Asks for access. Throws Problem access_request_open while another request is open there, access_request_declined within 30 days of a refusal
 * that the practice did not take back, access_requests_exceeded after 20 requests of a day, and field_invalid. Returns what is stored.
 */
export async function requestAccess(
  client: Queryable,
  asked: Pick<AccessRequest, 'companyId' | 'organizationId' | 'datasets' | 'askedBy'> & {
    /** Empty: all locations. */
    locations: string
    purpose: string
  },
  now: Date,
): Promise<Pick<AccessRequest, 'datasets' | 'locations' | 'purpose'>> {
  const { companyId, organizationId } = asked
  if (asked.datasets.length === 0) throw new Problem('field_invalid', { errors: 'Choose a dataset at least.' })
  const locations = asked.locations.trim() === '' ? null : requireText(asked.locations, 'the locations', 500)
  const purpose = requireText(asked.purpose.replace(/\s+/g, ' '), 'the purpose', 500)
  // Requests of one company take turns, so that they are counted.
  await lockCompany(client, companyId)
  const { rows } = await client.query<{ of_day: string; declined_at: Date | null }>(
    `select count(*) filter (where asked_at > $3::timestamptz - interval '1 day') as of_day,
            max(ended_at) filter (where state = 'declined' and invited_at is null and organization_id = $2) as declined_at
       from access_request
      where company_id = $1`,
    [companyId, organizationId, now],
  )
  if (Number(rows[0]?.of_day) >= perDayMax) throw new Problem('access_requests_exceeded')
  const declinedAt = rows[0]?.declined_at
  const mayRepeatAt = declinedAt && new Date(declinedAt.getTime() + repeatedAfterDays * 86_400_000)
  if (mayRepeatAt && mayRepeatAt > now) {
    const on = mayRepeatAt.toISOString().slice(0, 10)
    throw new Problem('access_request_declined', {
      errors: `The practice declined your last request. Ask again after ${on}, or when the practice lets you.`,
    })
  }
  const datasets = datasetNames.filter((name) => asked.datasets.includes(name))
  try {
    await client.query(
      `insert into access_request (id, company_id, organization_id, datasets, all_locations, locations, purpose, asked_at, asked_by)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        ...[newUuid<RequestId>(), companyId, organizationId, datasets],
        ...[locations === null, locations, purpose, now, asked.askedBy],
      ],
    )
  } catch (error) {
    if (violates(error, 'access_request_open')) throw new Problem('access_request_open')
    throw error
  }
  return { datasets, locations, purpose }
}

type Side = { companyId: CompanyId } | { organizationId: OrganizationId }

/** The latest requests of a company or to an organization, those that are open first. */
export async function listAccessRequests(db: Queryable, side: Side): Promise<AccessRequest[]> {
  const [column, id] = 'companyId' in side ? ['company_id', side.companyId] : ['organization_id', side.organizationId]
  const { rows } = await db.query<RowOf<AccessRequest>>(
    `select ${columns} from access_request
      where ${column} = $1
      order by state = 'open' desc, asked_at desc
      limit ${listedMax}`,
    [id],
  )
  return rows.map((row) => fromRow<AccessRequest>(row))
}

/** A request of the side that asks, held until the transaction ends. Throws Problem access_request_unknown. */
export async function lockAccessRequest(client: Queryable, side: Side, text: string): Promise<AccessRequest> {
  const id = parseUuid<RequestId>(text)
  const { rows } = await client.query<RowOf<AccessRequest>>(
    `select ${columns} from access_request where id = $1 for no key update`,
    [id],
  )
  const found = rows[0] && fromRow<AccessRequest>(rows[0])
  const isOwn =
    found && ('companyId' in side ? found.companyId === side.companyId : found.organizationId === side.organizationId)
  if (!isOwn) throw new Problem('access_request_unknown')
  return found
}

/** Ends an open request, and returns the message as it is stored. Throws Problem access_request_ended when it is not open any more. */
export async function endAccessRequest(
  client: Queryable,
  request: AccessRequest,
  end: { state: Exclude<RequestState, 'open'>; by: string; message?: string | undefined; now: Date },
): Promise<string | null> {
  if (request.state !== 'open') throw new Problem('access_request_ended')
  const message = end.message?.trim() ? requireText(end.message.replace(/\s+/g, ' '), 'the message', 500) : null
  await client.query('update access_request set state = $2, ended_at = $3, ended_by = $4, message = $5 where id = $1', [
    request.id,
    end.state,
    end.now,
    end.by,
    message,
  ])
  return message
}

/** Lets the company ask again though it was declined. Throws Problem access_request_ended for a request that was not declined. */
export async function inviteAgain(client: Queryable, request: AccessRequest, now: Date): Promise<void> {
  if (request.state !== 'declined') throw new Problem('access_request_ended')
  await client.query('update access_request set invited_at = $2 where id = $1', [request.id, now])
}

const columns = `id, company_id, organization_id, datasets, all_locations, locations, purpose, asked_at, asked_by,
  state, ended_at, ended_by, message, invited_at`
