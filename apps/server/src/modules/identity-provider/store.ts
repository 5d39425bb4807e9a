import { randomUUID } from 'node:crypto'
import type { Queryable } from '../../platform/database/queryable.ts'
import { violates } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { MemberId } from '../../platform/identity/identity.ts'
import { isSealedAnew, sealText, unsealText } from '../credentials/sealed-text.ts'
import type { SecretKey } from '../credentials/secret.ts'
import { parseTenantId, type Tenant, tenantIdOf } from '../membership/tenant.ts'

/** The identity provider of a tenant. `clientSecret` is sealed. */
export type IdentityProvider = {
  id: string
  tenant: Tenant
  /** What members enter on the sign-in page to be led to it. */
  signInName: string
  name: string
  issuer: string
  clientId: string
  clientSecret: string
  countsAsSecondFactor: boolean
  /** Members sign in for this tenant through the provider alone; the owner can also sign in with a password. */
  isRequired: boolean
  testedAt: Date | null
}

/** The tenant's provider; null where it has none. By the unique index on the tenant: every request for a tenant reads it. */
export async function findProvider(db: Queryable, tenant: Tenant): Promise<IdentityProvider | null> {
  return await select(db, 'tenant_id = $1', tenantIdOf(tenant))
}

/** The provider of this sign-in name; null where there is none. */
export async function findProviderByName(db: Queryable, signInName: string): Promise<IdentityProvider | null> {
  return await select(db, 'sign_in_name = $1', signInName.trim().toLowerCase())
}

/** The provider of this id; null where it was removed, or another one has taken its place. */
export async function findProviderById(db: Queryable, id: string): Promise<IdentityProvider | null> {
  return await select(db, 'id = $1', id)
}

type NewProvider = Omit<IdentityProvider, 'id' | 'tenant' | 'testedAt'>

/**
 * Stores the tenant's provider. One with another issuer or client takes the place of the one before: its links and sessions end, and it is
 * not tested. Hand down a transaction that holds the tenant. Throws Problem sign_in_name_taken.
 */
export async function saveProvider(client: Queryable, tenant: Tenant, provider: NewProvider): Promise<void> {
  const before = await findProvider(client, tenant)
  const isSame = before?.issuer === provider.issuer && before.clientId === provider.clientId
  if (before && !isSame) await deleteProvider(client, tenant)
  try {
    await client.query(
      `insert into identity_provider
              (id, tenant_id, sign_in_name, name, issuer, client_id, client_secret, counts_as_second_factor, is_required)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (tenant_id) do update
         set sign_in_name = excluded.sign_in_name, name = excluded.name, client_secret = excluded.client_secret,
             counts_as_second_factor = excluded.counts_as_second_factor, is_required = excluded.is_required`,
      [
        randomUUID(),
        tenantIdOf(tenant),
        provider.signInName,
        provider.name,
        provider.issuer,
        provider.clientId,
        provider.clientSecret,
        provider.countsAsSecondFactor,
        provider.isRequired,
      ],
    )
  } catch (error) {
    if (violates(error, 'identity_provider_sign_in_name_key')) throw new Problem('sign_in_name_taken')
    throw error
  }
}

/** Seals every client secret with the current secret key that is not yet. One that is changed meanwhile stays as it was made. Safe to repeat. */
export async function resealClientSecrets(db: Queryable, secretKey: SecretKey): Promise<void> {
  for (const { id, client_secret } of await listOutdated(db, secretKey)) {
    const sealed = await sealText(secretKey, await unsealText(secretKey, client_secret))
    await db.query('update identity_provider set client_secret = $3 where id = $1 and client_secret = $2', [
      id,
      client_secret,
      sealed,
    ])
  }
}

/** How many client secrets are sealed with another secret key than the current one. */
export async function countOutdatedClientSecrets(db: Queryable, secretKey: SecretKey): Promise<number> {
  return (await listOutdated(db, secretKey)).length
}

async function listOutdated(db: Queryable, secretKey: SecretKey): Promise<{ id: string; client_secret: string }[]> {
  const { rows } = await db.query<{ id: string; client_secret: string }>(
    'select id, client_secret from identity_provider',
  )
  return rows.filter(({ client_secret }) => !isSealedAnew(secretKey, client_secret))
}

/** Removes the tenant's provider with all links. Sessions that it began open nothing from then on. False when there is none. */
export async function deleteProvider(db: Queryable, tenant: Tenant): Promise<boolean> {
  const { rowCount } = await db.query('delete from identity_provider where tenant_id = $1', [tenantIdOf(tenant)])
  return rowCount === 1
}

/** Notes that a sign-in at the provider succeeded. */
export async function markTested(db: Queryable, id: string): Promise<void> {
  await db.query(
    `with moment as (select clock_timestamp() as at)
     update identity_provider set tested_at = moment.at from moment where id = $1`,
    [id],
  )
}

/**
 * Links a member to a person at the provider, in place of the one before. Throws Problem identity_linked when that person is another member,
 * and identity_provider_unknown when the provider is gone.
 */
export async function linkIdentity(
  db: Queryable,
  { memberId, providerId, subject }: { memberId: MemberId; providerId: string; subject: string },
): Promise<void> {
  try {
    await db.query(
      `insert into identity_link (membership_id, provider_id, subject) values ($1, $2, $3)
       on conflict (membership_id) do update
         set provider_id = excluded.provider_id, subject = excluded.subject, linked_at = excluded.linked_at`,
      [memberId, providerId, subject],
    )
  } catch (error) {
    if (violates(error, 'identity_link_provider_id_subject_key')) throw new Problem('identity_linked')
    if (violates(error, 'identity_link_provider_id_fkey')) throw new Problem('identity_provider_unknown')
    throw error
  }
}

/** Which member a person at the provider is; null where no member linked them. */
export async function findLinkedMember(db: Queryable, providerId: string, subject: string): Promise<MemberId | null> {
  const { rows } = await db.query<{ id: MemberId }>(
    'select membership_id as id from identity_link where provider_id = $1 and subject = $2',
    [providerId, subject],
  )
  return rows[0]?.id ?? null
}

/** How many members are linked; of one who was removed the link opens nothing. */
export async function countLinks(db: Queryable, providerId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::integer as count from identity_link where provider_id = $1',
    [providerId],
  )
  return rows[0]?.count ?? 0
}

type ProviderRow = Omit<IdentityProvider, 'tenant'> & { tenantId: string }

async function select(db: Queryable, where: string, value: string): Promise<IdentityProvider | null> {
  const { rows } = await db.query<ProviderRow>(
    `select id, tenant_id as "tenantId", sign_in_name as "signInName", name, issuer, client_id as "clientId",
            client_secret as "clientSecret", counts_as_second_factor as "countsAsSecondFactor",
            is_required as "isRequired", tested_at as "testedAt"
       from identity_provider
      where ${where}`,
    [value],
  )
  if (!rows[0]) return null
  const { tenantId, ...provider } = rows[0]
  const tenant = parseTenantId(tenantId)
  if (!tenant) throw new Error(`identity provider ${provider.id} has no tenant`)
  return { ...provider, tenant }
}
