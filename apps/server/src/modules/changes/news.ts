import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { notEnded } from '../consent/in-force.ts'
import { formatMicros, type Stamp } from '../datasets/stamp.ts'
import { stampOf } from './horizon.ts'

/**
 * The companies, of these, of which something changed after a stamp, and the stamp of the last change. By indexes on when things changed, so it
 * costs what changed since, and not what there is. `restored`: the stamp that a restore alone gave.
 */
export async function findNews(
  db: Queryable,
  { companyIds, since, restored }: { companyIds: readonly CompanyId[]; since: Stamp; restored: Stamp },
): Promise<ReadonlyMap<CompanyId, Stamp>> {
  const { rows } = await db.query<{ company_id: CompanyId; at: string }>({
    name: 'changes-news',
    text: `select company_id, max(at) as at
             from (select g.company_id, s.last_stamp as at
                     from dataset_state s
                     join dataset_grant g on g.location_id = s.location_id and g.dataset = s.dataset
                    where s.last_stamp > $2 and s.last_stamp <> $4 and g.company_id = any($1::uuid[]) and ${notEnded('g')}
                    union all
                   select g.company_id, ${stampOf('l.updated_at')}
                     from location l
                     join dataset_grant g on g.location_id = l.id
                    where l.updated_at > $3::timestamptz and g.company_id = any($1::uuid[]) and ${notEnded('g')}
                    union all
                   select company_id, ${stampOf('granted_at')}
                     from access_grant
                    where company_id = any($1::uuid[]) and granted_at > $3::timestamptz
                    union all
                   select company_id, ${stampOf('revoked_at')}
                     from access_grant
                    where company_id = any($1::uuid[]) and revoked_at > $3::timestamptz
                    union all
                   select company_id, ${stampOf('ends_at')}
                     from access_grant
                    where company_id = any($1::uuid[]) and revoked_at is null and ends_at > $3::timestamptz
                      and ends_at <= statement_timestamp()
                    union all
                   select company_id, ${stampOf('greatest(created_at, revoked_at)')}
                     from key_pair
                    where company_id = any($1::uuid[]) and (created_at > $3::timestamptz or revoked_at > $3::timestamptz)
                    union all
                   select company_id, ${stampOf('accepted_at')}
                     from agreement_acceptance
                    where company_id = any($1::uuid[]) and accepted_at > $3::timestamptz
                    union all
                   select waiting.id, ${stampOf('a.published_at')}
                     from agreement a
                    cross join unnest($1::uuid[]) as waiting (id)
                    where a.published_at > $3::timestamptz) news
            group by company_id`,
    values: [companyIds, since, formatMicros(since), restored],
  })
  return new Map(rows.map((row) => [row.company_id, Number(row.at)]))
}
