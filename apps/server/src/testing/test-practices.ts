import { datasets, renderingOf } from '@bridgework/contract'
import type { Queryable } from '../platform/database/queryable.ts'

/** Ids of the practices that are filled: the organization, its location and its agent have the same one. */
export const filledFrom = 5_000_000_000

/**
 * Fills a database with so many practices, each with a location, an agent that was heard and has read everything just now, a person, and a grant of all
 * datasets to the company: what the installation keeps for each practice, without records. `from`: how many there are already. As the schema's owner.
 */
export async function fillPractices(
  db: Queryable,
  { count, companyId, from = 0, total = 0 }: { count: number; companyId: string; from?: number; total?: number },
): Promise<void> {
  const [first, last] = [filledFrom + from, filledFrom + from + count - 1]
  for (const statement of practices) await db.query(statement, [first, last])
  const names = datasets.map(({ name }) => name)
  await db.query(
    `insert into dataset_state (location_id, dataset, first_stamp, last_stamp, total, visible, synced_at, initial_sync_completed_at, rendering)
     select n, d.dataset, 1, 1, $5, $5, now(), now(), d.rendering
       from generate_series($1::bigint, $2::bigint) n, unnest($3::text[], $4::smallint[]) as d (dataset, rendering)`,
    [first, last, names, datasets.map(renderingOf), total],
  )
  await db.query(
    `insert into access_grant (id, company_id, organization_id, dataset, granted_by)
     select gen_random_uuid(), $3, n, d, 'test' from generate_series($1::bigint, $2::bigint) n, unnest($4::text[]) d`,
    [first, last, companyId, names],
  )
  await db.query(
    `insert into dataset_grant (location_id, company_id, dataset, granted_stamp, granted_at)
     select n, $3, d, 1, now() from generate_series($1::bigint, $2::bigint) n, unnest($4::text[]) d`,
    [first, last, companyId, names],
  )
}

/** Gives PostgreSQL statistics of what was filled, as autovacuum does. */
export async function analyzeFilled(db: Queryable): Promise<void> {
  for (const table of filledTables) await db.query(`vacuum analyze ${table}`)
}

const each = 'from generate_series($1::bigint, $2::bigint) n'
const practices = [
  `insert into organization (id, name) select n, 'Practice ' || n ${each}`,
  `insert into location (id, organization_id, source_id, name, city, time_zone)
   select n, n, 's', 'Location ' || n, 'City ' || n % 100, 'America/New_York' ${each}`,
  `insert into attribution_script (location_id, key) select n, 'key ' || n ${each}`,
  `insert into agent (id, organization_id, name, key_hmac, secret_key_id, enrolled_at)
   select n, n, 'Agent', convert_to(n::text, 'UTF8'), '', now() - interval '1 year' ${each}`,
  `insert into agent_contact (agent_id, last_contact_at) select n, now() ${each}`,
  `insert into agent_number (agent_id, highest) select n, 1 ${each}`,
  `insert into location_writer (location_id, agent_id, taken_at) select n, n, now() ${each}`,
  `insert into portal_user (id, name, email) select gen_random_uuid(), 'Person', 'p' || n || '@practice.example' ${each}`,
  `insert into membership (id, side, organization_id, user_id, email, name, role)
   select gen_random_uuid(), 'organization', n, u.id, u.email, 'Person', 'owner'
     from generate_series($1::bigint, $2::bigint) n join portal_user u on u.email = 'p' || n || '@practice.example'`,
  `insert into upload (location_id, dataset, agent_id, number, body_hash, answer, unchanged_keys, received_at)
   select n, d, n, 1, '', '{}', '{}', now() - interval '1 hour' ${each}, unnest(array['patients', 'appointments']) d`,
  `insert into location_hour (location_id, hour_at, uploads)
   select n, date_trunc('hour', now()) - h * interval '1 hour', 1 ${each}, generate_series(0, 3) h`,
  `insert into agent_hour (agent_id, hour_at, requests)
   select n, date_trunc('hour', now()) - h * interval '1 hour', 1 ${each}, generate_series(0, 3) h`,
  `insert into sync_activity (location_id, dataset, bucket_at, reads)
   select n, d, date_bin('15 minutes', now(), '2000-01-01'), 1 ${each}, unnest(array['patients', 'appointments']) d`,
]

const filledTables = [
  ...['organization', 'location', 'attribution_script', 'agent', 'agent_contact', 'agent_number', 'location_writer'],
  ...['portal_user', 'membership', 'upload', 'location_hour', 'agent_hour', 'sync_activity', 'dataset_state'],
  ...['access_grant', 'dataset_grant'],
]
