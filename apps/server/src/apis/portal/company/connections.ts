import type { PortalAnswers } from '@bridgework/contract/portal'
import { freshnessOf } from '../../../modules/datasets/freshness.ts'
import { listConnections } from '../../../modules/overview/connection.ts'
import type { CompanyId } from '../../../platform/identity/identity.ts'
import type { PortalContext } from '../shared/context.ts'
import { type ListPage, toListed } from '../shared/list.ts'

/** A page of the locations that practices granted a company, with their datasets and how current they are. */
export async function connectionsPage(
  { pool, lastContactOf, now }: PortalContext,
  companyId: CompanyId,
  page: ListPage,
): Promise<PortalAnswers['listConnections']> {
  const { total, connections } = await listConnections(pool, companyId, page)
  const toLocation = async (location: (typeof connections)[number]['locations'][number]) => ({
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
  })
  const data = await Promise.all(
    connections.map(async (connection) => ({
      organization_id: connection.organizationId,
      organization_name: connection.organizationName,
      purpose: connection.purpose,
      ends_at: connection.endsAt?.toISOString() ?? null,
      locations_total: connection.locationsTotal,
      locations: await Promise.all(connection.locations.map(toLocation)),
    })),
  )
  return toListed(page, total, data)
}

function requireDate(date: Date | undefined): string {
  // Grants and what they open change in one transaction.
  if (!date) throw new Error('a granted dataset is not open')
  return date.toISOString()
}
