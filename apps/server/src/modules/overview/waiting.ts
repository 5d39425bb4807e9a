import type { Queryable } from '../../platform/database/queryable.ts'
import type { OrganizationId } from '../../platform/identity/identity.ts'

/** How many decisions wait for a person of the practice. */
export type Waiting = { removals: number; access_requests: number }

/**
 * Every page of a practice asks this, so it reads nothing but what waits: held removals by the practice's locations and the index
 * removal_current, open requests by access_request_of_organization.
 */
export async function countWaiting(db: Queryable, organizationId: OrganizationId): Promise<Waiting> {
  const { rows } = await db.query<Waiting>(
    `select (select count(*)::integer
               from location l
               join removal r on r.location_id = l.id
              where l.organization_id = $1 and r.state = 'held') as removals,
            (select count(*)::integer from access_request where organization_id = $1 and state = 'open') as access_requests`,
    [organizationId],
  )
  if (!rows[0]) throw new Error('the counts returned no row')
  return rows[0]
}
