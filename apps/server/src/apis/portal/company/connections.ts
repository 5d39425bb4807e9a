import type { ConnectedLocation, PortalAnswers } from '@bridgework/contract/portal'
import { quoted } from '../../../modules/audit/quoted.ts'
import { freshnessOf } from '../../../modules/datasets/freshness.ts'
import { listNoticesSaying } from '../../../modules/notices/notice.ts'
import { type Connection, findConnection, listConnections } from '../../../modules/overview/connection.ts'
import { anyRequest, listRequests } from '../../../modules/usage/request-log.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { CompanyId, LocationId } from '../../../platform/identity/identity.ts'
import type { PortalContext } from '../shared/context.ts'
import { type ListPage, toListed } from '../shared/list.ts'
import type { Membership } from '../shared/membership.ts'
import { toNotice } from '../shared/notices.ts'
import { toLoggedRequests } from './usage.ts'

/** A page of the locations that practices granted a company, with their datasets and how current they are. */
export async function connectionsPage(
  context: PortalContext,
  companyId: CompanyId,
  page: ListPage,
): Promise<PortalAnswers['listConnections']> {
  const { total, connections } = await listConnections(context.pool, companyId, page)
  const data = await Promise.all(
    connections.map(async (connection) => ({
      ...termsOf(connection),
      locations_total: connection.locationsTotal,
      locations: await Promise.all(connection.locations.map((location) => toLocation(context, location))),
    })),
  )
  return toListed(page, total, data)
}

/**
 * A location that a practice granted a company: how current it is, the last requests for it, and the member's notices that name the practice.
 * Throws Problem location_unknown for one of which the company may read nothing.
 */
export async function connectedLocation(
  context: PortalContext,
  { companyId, memberId }: Membership<'company'>,
  locationId: LocationId | null,
): Promise<ConnectedLocation> {
  const { pool } = context
  const connection = locationId && (await findConnection(pool, companyId, locationId))
  const [location] = connection ? connection.locations : []
  if (!connection || !location) throw new Problem('location_unknown')
  const filter = { ...anyRequest, locationIds: [location.id] }
  const [requests, notices] = await Promise.all([
    listRequests(pool, companyId, filter, { before: null, limit: requestsShown }),
    listNoticesSaying(pool, memberId, quoted(connection.organizationName), noticesShown),
  ])
  return {
    ...termsOf(connection),
    location: await toLocation(context, location),
    requests: await toLoggedRequests(pool, requests),
    notices: notices.map(toNotice),
  }
}

const [requestsShown, noticesShown] = [10, 5]

function termsOf({ organizationId, organizationName, purpose, endsAt }: Connection) {
  return {
    organization_id: organizationId,
    organization_name: organizationName,
    purpose,
    ends_at: endsAt?.toISOString() ?? null,
  }
}

async function toLocation({ lastContactOf, now }: PortalContext, location: Connection['locations'][number]) {
  return {
    id: location.id,
    name: location.name,
    city: location.city,
    state: location.state,
    has_attribution_script: location.attributionScript.isInstalled,
    datasets: await Promise.all(
      location.states.map(async ({ dataset, state }) => ({
        dataset,
        granted_at: requireDate(location.grantedAt.get(dataset)),
        state: await freshnessOf(state, location, () => lastContactOf(location.organizationId), now()),
        synced_at: state.syncedAt?.toISOString() ?? null,
      })),
    ),
  }
}

function requireDate(date: Date | undefined): string {
  // Grants and what they open change in one transaction.
  if (!date) throw new Error('a granted dataset is not open')
  return date.toISOString()
}
