import type { DatasetName } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId, LocationId } from '../../platform/identity/identity.ts'
import { notEnded } from '../consent/in-force.ts'
import { agreementAccepted } from '../credentials/agreement.ts'

/** A company that may read something of a location now, with what that is. */
export type Reader = {
  companyId: CompanyId
  locationId: LocationId
  location: string
  organization: string
  datasets: DatasetName[]
}

/** Who may read of these locations. By the primary key of dataset_grant. */
export async function listReaders(db: Queryable, locationIds: readonly LocationId[]): Promise<Reader[]> {
  if (locationIds.length === 0) return []
  const { rows } = await db.query<Reader>(
    `select g.company_id as "companyId", l.id as "locationId", l.name as location, o.name as organization,
            array_agg(g.dataset order by g.dataset) as datasets
       from dataset_grant g
       join location l on l.id = g.location_id
       join organization o on o.id = l.organization_id
       join company c on c.id = g.company_id
      where g.location_id = any($1::bigint[]) and ${mayRead}
      group by g.company_id, l.id, o.id
      order by g.company_id, l.id`,
    [locationIds],
  )
  return rows
}

/** Of these locations those of which the company may read something, and whether each is open. By dataset_grant_of_company. */
export async function listReadable(
  db: Queryable,
  companyId: CompanyId,
  locationIds: readonly LocationId[],
): Promise<Map<LocationId, { isOpen: boolean }>> {
  const { rows } = await db.query<{ id: LocationId; is_active: boolean }>(
    `select distinct l.id, l.is_active
       from dataset_grant g
       join location l on l.id = g.location_id
       join company c on c.id = g.company_id
      where g.company_id = $1 and g.location_id = any($2::bigint[]) and ${mayRead}`,
    [companyId, locationIds],
  )
  return new Map(rows.map(({ id, is_active }) => [id, { isOpen: is_active }]))
}

/** A grant `g` in force, of a company `c` to which it is of use. */
const mayRead = `${notEnded('g')} and c.state = 'active' and ${agreementAccepted('c.id')}`
