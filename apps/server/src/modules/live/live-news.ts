import type { Queryable } from '../../platform/database/queryable.ts'
import { stampOf } from '../changes/horizon.ts'
import { formatMicros, type Stamp } from '../datasets/stamp.ts'

/** Whose pages are open in this process, each of them once. */
export type Watched = {
  sessionIds: readonly string[]
  userIds: readonly string[]
  companyIds: readonly string[]
  organizationIds: readonly string[]
  isOperator: boolean
}

/** Up to where rows are known: acts, notices and disclosures by id, records by stamp. */
export type Known = { clock: Stamp; actId: number; noticeId: number; disclosureId: number }

/**
 * One row of what there is: `item` differs from that of the look before when something changed. `kind`: an act's name, or a topic; `session` for a
 * session that has not ended. `of`: the session, the person, or the tenant that it concerns.
 */
export type Seen = { kind: string; of: string; item: string }

/** The highest ids, to be read before the rows that they bound from below at a later look. */
export async function readKnown(db: Queryable): Promise<Known> {
  const { rows } = await db.query<Known>({
    name: 'live-known',
    // As float8, which is exact for them all, and a number to the client.
    text: `select ${stampOf('statement_timestamp()')}::float8 as clock,
                  coalesce((select max(id) from audit_event), 0)::float8 as "actId",
                  coalesce((select max(id) from notice), 0)::float8 as "noticeId",
                  coalesce((select max(id) from disclosure), 0)::float8 as "disclosureId"`,
  })
  const [row] = rows
  if (!row) throw new Error('a select without rows')
  return row
}

/**
 * All that concerns those who watch, in one statement, whatever their number. Acts, notices, reads and records: those after `since`, by the index of
 * their id or stamp, so peace costs nothing. Agents, held removals and requests: one row for each tenant that watches, which says how they are.
 */
export async function findSeen(db: Queryable, watched: Watched, since: Known): Promise<Seen[]> {
  const { sessionIds, userIds, companyIds, organizationIds, isOperator } = watched
  const { rows } = await db.query<Seen>({
    name: 'live-seen',
    text: `select 'session' as kind, id::text as of, '' as item
             from portal_session
            where id = any($1::uuid[]) and expires_at > now()
            union all
           select action, case when side = 'account' then user_id::text else coalesce(tenant_id, 'operator') end, id::text
             from audit_event
            where id > $6
              and case when side = 'account' then user_id = any($2::uuid[])
                       else $5 or tenant_id = any($3::text[]) or tenant_id = any($4::text[]) end
            union all
           select 'notices', m.user_id::text, n.id::text
             from notice n
             join membership m on m.id = n.member_id
            where n.id > $7 and m.user_id = any($2::uuid[])
            union all
           select 'reads', l.organization_id::text, max(d.id)::text
             from disclosure d
             join location l on l.id = d.location_id
            where d.id > $8 and l.organization_id = any($4::bigint[])
            group by l.organization_id
            union all
           select 'data', l.organization_id::text, concat_ws(' ', s.location_id, s.dataset, s.last_stamp)
             from dataset_state s
             join location l on l.id = s.location_id
            where s.last_stamp > $9 and l.organization_id = any($4::bigint[])
            union all
           select 'locations', organization_id::text, concat_ws(' ', id, updated_at)
             from location
            where updated_at > $10 and organization_id = any($4::bigint[])
            union all
           select 'agents', o.id::text,
                  concat_ws(' ', count(*), max(a.enrolled_at), max(a.revoked_at), max(h.heard_at), max(c.last_contact_at),
                            max(p.refused_at), max(w.refused_at))
             from unnest($4::bigint[]) as o (id)
             join agent a on a.organization_id = o.id
             left join agent_heartbeat h on h.agent_id = a.id
             left join agent_contact c on c.agent_id = a.id
             left join agent_process p on p.agent_id = a.id
             left join location_writer w on w.agent_id = a.id
            group by o.id
            union all
           select 'removals', o.id::text, concat_ws(' ', count(r.id), max(r.held_at), sum(r.remaining), max(r.list_hash))
             from unnest($4::bigint[]) as o (id)
             left join (select l.organization_id, r.*
                          from removal r
                          join location l on l.id = r.location_id
                         where r.state in ('held', 'running')) r on r.organization_id = o.id
            group by o.id
            union all
           select 'requests', c.id::text, concat_ws(' ', u.bucket_at, u.requests, u.throttled, u.errors)
             from unnest($3::uuid[]) as c (id)
             join lateral (select bucket_at, requests, throttled, errors
                             from vendor_usage
                            where company_id = c.id
                            order by bucket_at desc
                            limit 1) u on true`,
    values: [
      ...[sessionIds, userIds, companyIds, organizationIds, isOperator],
      ...[since.actId, since.noticeId, since.disclosureId, since.clock, formatMicros(since.clock)],
    ],
  })
  return rows
}
