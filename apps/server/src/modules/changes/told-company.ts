import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { agreementAccepted } from '../credentials/agreement.ts'

/** The companies with webhooks that may be told of changes now: as a request of theirs would be, but for the key pair, which no webhook uses. */
export async function listToldCompanies(db: Queryable): Promise<CompanyId[]> {
  const { rows } = await db.query<{ id: CompanyId }>({
    name: 'webhook-told-companies',
    text: `select c.id
             from company c
            where c.state = 'active' and ${agreementAccepted('c.id')}
              and exists (select 1 from webhook_endpoint e where e.company_id = c.id and e.stopped_because is null)`,
  })
  return rows.map(({ id }) => id)
}
