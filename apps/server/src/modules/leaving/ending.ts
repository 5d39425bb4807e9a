import { rowsOfMeans } from '../recovery/means.ts'

/**
 * What becomes of a tenant's rows of one table when the tenant is erased. `rows` is a condition on the table, with the tenant's id as $1.
 *
 * - at once: deleted in one transaction with the tenant's keys and people, in the order of the list
 * - in slices: deleted after that, a slice at a time, in the order of the list
 * - kept: not deleted, for this reason
 * - none: the table never has a row of a tenant, for this reason
 */
export type Ending =
  | { ends: 'at once' | 'in slices'; rows: string }
  | { ends: 'kept'; rows: string; because: string }
  | { ends: 'none'; because: string }

/** Every table of the schema with its ending. A test compares the names with the schema's. */
export type Endings = Readonly<Record<string, Ending>>

export const atOnce = (rows: string): Ending => ({ ends: 'at once', rows })
export const inSlices = (rows: string): Ending => ({ ends: 'in slices', rows })
export const kept = (rows: string, because: string): Ending => ({ ends: 'kept', rows, because })
export const none = (because: string): Ending => ({ ends: 'none', because })

/** The people who belong to no other tenant: their accounts end with the membership, and so do all their means of signing in. */
const leavingUsers = `select u.id from portal_user u
  where exists (select 1 from membership m where m.user_id = u.id and m.tenant_id = $1::text)
    and not exists (select 1 from membership m where m.user_id = u.id and m.tenant_id <> $1::text)`
const meansOfLeavingUsers = rowsOfMeans(leavingUsers)
const ofTenant = 'membership_id in (select id from membership where tenant_id = $1::text)'

/** A practice's or a vendor's people. */
export const people: Endings = {
  session_use: atOnce('tenant_id = $1::text'),
  support_view: atOnce('tenant_id = $1::text'),
  sign_in_rule: atOnce('tenant_id = $1::text'),
  ...Object.fromEntries(Object.entries(meansOfLeavingUsers).map(([table, rows]) => [table, atOnce(rows)])),
  // Of those who stay as well: for this tenant alone.
  identity_link: atOnce(`${meansOfLeavingUsers.identity_link} or ${ofTenant}`),
  used_totp: atOnce(`user_id in (${leavingUsers})`),
  mail: atOnce(`exists (select 1 from membership m where lower(m.email) = lower(mail.recipient) and m.tenant_id = $1::text)
    and not exists (select 1 from membership m where lower(m.email) = lower(mail.recipient) and m.tenant_id <> $1::text)`),
  invitation: atOnce('member_id in (select id from membership where tenant_id = $1::text)'),
  portal_user: atOnce(`id in (${leavingUsers})`),
  identity_provider: atOnce('tenant_id = $1::text'),
  notice: atOnce('member_id in (select id from membership where tenant_id = $1::text)'),
  notice_setting: atOnce('member_id in (select id from membership where tenant_id = $1::text)'),
  notice_condition: atOnce('tenant_id = $1::text'),
  membership: atOnce('tenant_id = $1::text'),
}

/** What belongs to the installation, or expires soon and names no tenant. */
export const installation: Endings = {
  disclosure_drop: none('of the installation'),
  agent_release: none('of the installation'),
  agreement: none('the text of the agreement is the same for all vendors'),
  incident: none('of the installation'),
  incident_update: none('of the installation'),
  installation: none('of the installation'),
  lease: none('of the installation'),
  migration: none('of the installation'),
  notice_cursor: none('of the installation'),
  seal: none('of the installation'),
  seal_key_change: none('of the installation'),
  secret_key_reader: none('of the installation'),
  segment_search: none('of the installation'),
  service_minute: none('of the installation'),
  service_epoch: none('of the installation'),
  sign_in_attempt: none('hashes of who tried to sign in; they expire within a day'),
  sign_up: none('a sign-up that is not confirmed belongs to no tenant yet; it expires within a day'),
  signing_key: none('of the installation'),
  webhook_cursor: none('of the installation'),
  token_attempt: none('network addresses of the last minute'),
}
