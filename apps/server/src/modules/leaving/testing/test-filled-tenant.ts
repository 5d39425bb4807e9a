import { randomUUID } from 'node:crypto'
import { datasetNames } from '@bridgework/contract'
import { aRecord, type TestVendor, type TestWorld } from '../../../testing/test-world.ts'
import { addMember } from '../../membership/member.ts'
import { tenantIdOf } from '../../membership/tenant.ts'

/** Every row of every table, as text. */
export type Snapshot = ReadonlyMap<string, readonly string[]>

/** A practice and a vendor that reads it, each with a row in every table that can have one. */
export async function fillTenants(world: TestWorld, vendor: TestVendor) {
  const { pool } = world
  const location = await world.addLocation()
  await world.grant(vendor.companyId, location)
  for (const dataset of datasetNames) {
    const { status, text } = await location.upload(dataset, { 1: aRecord(dataset), 2: null })
    if (status !== 200) throw new Error(text)
  }
  for (const dataset of datasetNames) await vendor.get(`/locations/${location.id}/${dataset}`)
  await world.usage.flush()

  const organization = { side: 'organization', id: location.organizationId } as const
  const company = { side: 'company', id: vendor.companyId } as const
  const people = [await somePerson(world, organization), await somePerson(world, company)]
  const agentId = location.agent.agentId
  const [a, b, list] = [location.id, location.organizationId, Math.floor(Math.random() * 1e9)]
  const statements: [string, unknown[]][] = [
    ['insert into agent_contact values ($1, now()) on conflict do nothing', [agentId]],
    [`insert into agent_heartbeat values ($1, 'idle', now())`, [agentId]],
    [`insert into agent_problem values ($1, $2, 'patients', 'rights_missing', 'patient', null, now())`, [agentId, a]],
    [`insert into agent_process (agent_id, process_id, place, computer) values ($1, 'p', 'q', 'desk')`, [agentId]],
    [`insert into attribution_sighting values ($1, 'https://smile.example', true, now(), now())`, [a]],
    [
      `insert into complete_list (location_id, dataset, agent_id, fence, began_at_upload, begun_at) values ($1, 'patients', $2, 1, 1, now())`,
      [a, agentId],
    ],
    [
      `insert into complete_list_missing (location_id, dataset, list_id, source_id)
       select location_id, dataset, id, 's' from complete_list where location_id = $1`,
      [a],
    ],
    [`insert into removal (location_id, dataset, id, state) values ($1, 'patients', $2, 'held')`, [a, randomUUID()]],
    [`insert into removal_record select location_id, dataset, id, 's' from removal where location_id = $1`, [a]],
    [
      `insert into rerender_work (location_id, target_dataset, target_source_id, dataset, next_attempt_at)
      values ($1, 'patients', 's', 'appointments', now() + interval '1 day')`,
      [a],
    ],
    [
      `insert into note_removal (location_id, dataset, next_attempt_at) values ($1, 'appointments', now() + interval '1 day')`,
      [a],
    ],
    [`insert into packed_body values ($1, 'patients', 1, 2, 2, 'x', 'x', 'x')`, [a]],
    [`insert into segment values ($1, 'patients', 1, 0, 1, 1, null, 1, 1, 'x', 0, 0)`, [a]],
    [`insert into segment_state values ($1, 'patients')`, [a]],
    [`insert into segment_due values ($1, 'patients', now() + interval '1 day') on conflict do nothing`, [a]],
    [`insert into sync_activity values ($1, 'patients', now(), 1)`, [a]],
    [
      `insert into sync_slot values ($1, 'initial', $2, $3, now() + interval '1 day', 1)`,
      [vendor.companyId, a, randomUUID()],
    ],
    [`insert into sync_slot_gate values ($1, 'initial') on conflict do nothing`, [vendor.companyId]],
    [
      `insert into key_pair_use select id, now() from key_pair where company_id = $1 on conflict do nothing`,
      [vendor.companyId],
    ],
    [
      `insert into enrolment_code (code_hmac, secret_key_id, organization_id, expires_at) values ($1, '', $2, now())`,
      [Buffer.from(String(list)), b],
    ],
    [`insert into disclosed_day values ($1, now(), $2, 'patients', now(), now(), '{}', '{}')`, [a, vendor.companyId]],
    [
      `insert into practice_head (organization_id, entries, head, last_disclosure_id, unsealed) values ($1, 1, 'h', 1, 0)`,
      [b],
    ],
    ['insert into seal_mail values ($1)', [b]],
    [
      `insert into access_request (id, company_id, organization_id, datasets, all_locations, purpose, asked_at, asked_by)
       values (gen_random_uuid(), $1, $2, '{patients}', true, 'p', now(), 'Ada')`,
      [vendor.companyId, b],
    ],
    ['insert into company_profile (company_id) values ($1) on conflict do nothing', [vendor.companyId]],
    [
      `insert into company_domain (company_id, domain, token) values ($1, 'v.example', 't') on conflict do nothing`,
      [vendor.companyId],
    ],
    [
      `with endpoint as (
         insert into webhook_endpoint (id, company_id, url, types, secret)
         values (gen_random_uuid(), $1::uuid, gen_random_uuid(), '{key}', 's') returning id),
       delivery as (
         insert into webhook_delivery (endpoint_id, type, row_id, row_at, row_hash) select id, 'key', $1::text, 1, '' from endpoint)
       insert into webhook_attempt (endpoint_id, message_id, type, row_id, attempted_at, duration_ms)
       select id, gen_random_uuid(), 'key', $1::text, now(), 1 from endpoint`,
      [vendor.companyId],
    ],
    [`insert into company_former_name (company_id, name, name_key) values ($1, 'n', 'n')`, [vendor.companyId]],
    [`insert into practice_seal values ($1, 1, 'h', 1, now(), 'k', 's', 1, now(), now())`, [b]],
    ...[organization, company].map(({ side, id }): [string, unknown[]] => [
      `insert into audit_event (side, tenant_id, actor, action) values ($1, $2, 'Ada', 'member.manage')`,
      [side, id],
    ]),
    ...[organization, company].map(({ id }): [string, unknown[]] => [
      `insert into notice_condition (event, tenant_id, item, about, seen_at) values ('backlog', $1, '', 'a', now()) on conflict do nothing`,
      [id],
    ]),
    ...[organization, company].map(({ id }): [string, unknown[]] => [
      'insert into sign_in_rule values ($1, now()) on conflict do nothing',
      [id],
    ]),
  ]
  for (const [text, values] of statements) await pool.query(text, values)
  return { location, organization, company, people }
}

/** A member with an account of every kind of sign-in, and one who belongs to the operator too, whose account must stay. */
async function somePerson({ pool }: TestWorld, tenant: Parameters<typeof addMember>[1]) {
  const [userId, email] = [randomUUID(), `${randomUUID()}@example.com`]
  const member = await addMember(pool, tenant, { email, name: 'Ada', role: 'admin' })
  const insert = (table: string, columns: string, values: string) =>
    pool.query(`insert into ${table} (${columns}) values (${values})`, [userId])
  await pool.query(`insert into portal_user (id, name, email) values ($1, 'Ada', $2)`, [userId, email])
  await pool.query('update membership set user_id = $1 where id = $2', [userId, member.id])
  await insert(
    'portal_account',
    'id, user_id, account_id, provider_id',
    `gen_random_uuid(), $1::uuid, $1::text, 'credential'`,
  )
  await insert(
    'portal_session',
    'id, user_id, token, expires_at',
    `gen_random_uuid(), $1::uuid, $1::text, now() + interval '1 day'`,
  )
  await pool.query(
    `insert into identity_provider (id, tenant_id, sign_in_name, name, issuer, client_id, client_secret,
                                    counts_as_second_factor, is_required)
     values (gen_random_uuid(), $1, $1, 'n', 'i', 'c', 's', false, false)
     on conflict do nothing`,
    [tenantIdOf(tenant)],
  )
  await pool.query(`insert into identity_link select $1, id, $2 from identity_provider where tenant_id = $3`, [
    member.id,
    userId,
    tenantIdOf(tenant),
  ])
  await pool.query('insert into session_use select id, $2, now() from portal_session where user_id = $1', [
    userId,
    tenantIdOf(tenant),
  ])
  await pool.query('insert into support_view select id, $2, now() from portal_session where user_id = $1', [
    userId,
    tenantIdOf(tenant),
  ])
  await insert(
    'portal_passkey',
    'id, user_id, public_key, credential_id, counter, device_type, backed_up',
    `gen_random_uuid(), $1::uuid, 'k', $1::text, 0, 'singleDevice', false`,
  )
  await insert('portal_two_factor', 'id, user_id, secret, backup_codes', `gen_random_uuid(), $1::uuid, 's', 'b'`)
  await insert('used_totp', 'user_id, code_hmac', `$1::uuid, 'h'::bytea`)
  for (const link of ['reset', 'email-undo-link x']) {
    await insert(
      'portal_verification',
      'id, identifier, value, expires_at',
      `gen_random_uuid(), '${link}', $1::text || ' o@x.de', now() + interval '1 day'`,
    )
  }
  await pool.query(
    `insert into invitation (member_id, token_hmac, secret_key_id, expires_at) values ($1, $2, '', now() + interval '1 day')`,
    [member.id, Buffer.from(userId)],
  )
  await pool.query(
    `insert into notice (member_id, kind, event, title, body, path, created_at) values ($1, 'security', 'e', 't', 'b', '/', now())`,
    [member.id],
  )
  await pool.query(`insert into notice_setting values ($1, 'access', 'off')`, [member.id])
  await pool.query(
    `insert into mail (recipient, subject, text_body, next_attempt_at) values ($1, 's', 't', now() + interval '1 day')`,
    [email.toUpperCase()],
  )
  const other = { userId: randomUUID(), email: `${randomUUID()}@example.com` }
  await pool.query(`insert into portal_user (id, name, email) values ($1, 'Both', $2)`, [other.userId, other.email])
  for (const each of [tenant, { side: 'operator', id: null } as const]) {
    const { id } = await addMember(pool, each, {
      email: other.email,
      name: 'Both',
      role: each.id ? 'member' : 'support',
    })
    await pool.query('update membership set user_id = $1 where id = $2', [other.userId, id])
  }
  return { userId, email, memberId: member.id, other }
}

/** Every table of the schema, by name. */
export async function tablesOf({ pool }: Pick<TestWorld, 'pool'>): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = any(current_schemas(false)) order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** All that is in the database. */
export async function snapshot(world: Pick<TestWorld, 'pool'>): Promise<Snapshot> {
  const all = new Map<string, string[]>()
  for (const table of await tablesOf(world)) {
    const { rows } = await world.pool.query<{ row: string }>(
      `select to_jsonb(t)::text as row from ${table} t order by 1`,
    )
    all.set(
      table,
      rows.map(({ row }) => row),
    )
  }
  return all
}
