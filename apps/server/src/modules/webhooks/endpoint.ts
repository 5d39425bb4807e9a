import { type ChangeKind, changeKinds } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { requireText, violates } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type CompanyId, type EndpointId, newUuid, parseUuid } from '../../platform/identity/identity.ts'
import { isSealedAnew, sealText, unsealText } from '../credentials/sealed-text.ts'
import type { SecretKey } from '../credentials/secret.ts'
import { lockCompany } from '../directory/company.ts'
import { newWebhookSecret } from './signature.ts'

/**
 * Where a company is told what changed. Active → stopped by a person, by five days without a success (`failing`), or by an answer 410 (`gone`);
 * stopped → active by a person. What changes meanwhile waits.
 */
export type Endpoint = {
  id: EndpointId
  companyId: CompanyId
  url: string
  types: ChangeKind[]
  createdAt: Date
  stoppedBecause: 'person' | 'failing' | 'gone' | null
  stoppedAt: Date | null
  /** The first of the attempts that failed since the last success. */
  failingSince: Date | null
  attemptedAt: Date | null
  /** Until then the secret before signs too; null: none does. */
  previousUntil: Date | null
}

/** An endpoint with its secrets, sealed: the current one first. */
export type SignedEndpoint = Pick<Endpoint, 'id' | 'companyId' | 'url' | 'failingSince'> & { sealedSecrets: string[] }

export const endpointsMax = 10
/** How long the secret before signs too. */
export const rotationHours = 24

const columns = `id, company_id, url, types, created_at, stopped_because, stopped_at, failing_since, attempted_at,
  case when previous_until > clock_timestamp() then previous_until end as previous_until`

export async function listEndpoints(db: Queryable, companyId: CompanyId): Promise<(Endpoint & { pending: number })[]> {
  const { rows } = await db.query<RowOf<Endpoint> & { pending: string }>(
    `select ${columns},
            (select count(*) from webhook_delivery d where d.endpoint_id = webhook_endpoint.id and d.is_pending) as pending
       from webhook_endpoint
      where company_id = $1
      order by created_at, id`,
    [companyId],
  )
  return rows.map(({ pending, ...row }) => ({ ...fromRow<Endpoint>(row), pending: Number(pending) }))
}

/** Adds an endpoint, and returns its secret, which is not shown again. Hand down a transaction. Throws a Problem. */
export async function createEndpoint(
  client: Queryable,
  secretKey: SecretKey,
  given: { companyId: CompanyId; url: string; types: readonly ChangeKind[]; allowPrivate: boolean },
): Promise<{ endpoint: Endpoint; secret: string }> {
  const url = requireEndpointUrl(given.url, given.allowPrivate)
  // Requests of one company take turns, so that endpoints are counted.
  await lockCompany(client, given.companyId)
  const { rows: counted } = await client.query<{ count: string }>(
    'select count(*) from webhook_endpoint where company_id = $1',
    [given.companyId],
  )
  if (Number(counted[0]?.count) >= endpointsMax) throw new Problem('webhooks_exceeded')
  const secret = newWebhookSecret()
  try {
    const { rows } = await client.query<RowOf<Endpoint>>(
      `insert into webhook_endpoint (id, company_id, url, types, secret) values ($1, $2, $3, $4, $5) returning ${columns}`,
      [newUuid<EndpointId>(), given.companyId, url, typesOf(given.types), await sealText(secretKey, secret)],
    )
    return { endpoint: endpointOf(rows[0]), secret }
  } catch (error) {
    if (violates(error, 'webhook_endpoint_company_id_url_key')) throw new Problem('webhook_exists')
    throw error
  }
}

/** An endpoint of the company. `hold`: until the transaction ends. Throws Problem webhook_unknown. */
export async function requireEndpoint(
  db: Queryable,
  companyId: CompanyId,
  text: string,
  { hold = false } = {},
): Promise<Endpoint> {
  const { rows } = await db.query<RowOf<Endpoint>>(
    `select ${columns} from webhook_endpoint where id = $1 and company_id = $2 ${hold ? 'for no key update' : ''}`,
    [parseUuid<EndpointId>(text), companyId],
  )
  if (!rows[0]) throw new Problem('webhook_unknown')
  return endpointOf(rows[0])
}

/** Sets which types of rows the endpoint gets. What waits of the others is not sent. */
export async function setEndpointTypes(client: Queryable, id: EndpointId, types: readonly ChangeKind[]): Promise<void> {
  await client.query('update webhook_endpoint set types = $2 where id = $1', [id, typesOf(types)])
  await client.query('delete from webhook_delivery where endpoint_id = $1 and type <> all($2::text[])', [
    id,
    typesOf(types),
  ])
}

/** Gives the endpoint another secret, and returns it. The one before signs too for `rotationHours`; the one before that no longer. */
export async function rotateEndpointSecret(client: Queryable, secretKey: SecretKey, id: EndpointId): Promise<string> {
  const secret = newWebhookSecret()
  await client.query(
    `with moment as (select clock_timestamp() + interval '${rotationHours} hours' as previous_until)
     update webhook_endpoint
        set secret = $2, previous_secret = secret, previous_until = moment.previous_until
       from moment
      where id = $1`,
    [id, await sealText(secretKey, secret)],
  )
  return secret
}

export async function pauseEndpoint(client: Queryable, id: EndpointId): Promise<void> {
  await client.query(
    `with moment as (select clock_timestamp() as at)
     update webhook_endpoint set stopped_because = 'person', stopped_at = moment.at
       from moment
      where id = $1 and stopped_because is null`,
    [id],
  )
}

/** Begins again, with what waits, at once. */
export async function resumeEndpoint(client: Queryable, id: EndpointId): Promise<void> {
  await client.query(
    `with moment as (select clock_timestamp() as at)
     update webhook_endpoint
        set stopped_because = null, stopped_at = null, failures = 0, failing_since = null, due_at = moment.at
       from moment
      where id = $1`,
    [id],
  )
}

/** Removes the endpoint with what waits for it and its attempts. */
export async function removeEndpoint(client: Queryable, id: EndpointId): Promise<void> {
  await client.query('delete from webhook_endpoint where id = $1', [id])
}

/** Which of these endpoints may be sent to now, and is the one attempted longest ago first. */
export async function findDueEndpoints(
  db: Queryable,
  asked: {
    companyIds: readonly CompanyId[]
    only: readonly EndpointId[] | null
    except: readonly EndpointId[]
    limit: number
  },
): Promise<SignedEndpoint[]> {
  const { rows } = await db.query<RowOf<SignedEndpoint>>(
    `select e.id, e.company_id, e.url, e.failing_since,
            array_remove(array[e.secret, case when e.previous_until > clock_timestamp() then e.previous_secret end], null) as sealed_secrets
       from webhook_endpoint e
      where e.company_id = any($1::uuid[]) and e.stopped_because is null and e.due_at <= clock_timestamp()
        and e.id <> all($2::uuid[]) ${asked.only ? 'and e.id = any($4::uuid[])' : ''}
        and exists (select 1 from webhook_delivery d
                     where d.endpoint_id = e.id and d.is_pending and d.due_at <= clock_timestamp()
                       and (d.claimed_until is null or d.claimed_until <= clock_timestamp()))
      order by e.attempted_at nulls first
      limit $3`,
    [asked.companyIds, asked.except, asked.limit, ...(asked.only ? [asked.only] : [])],
  )
  return rows.map((row) => fromRow<SignedEndpoint>(row))
}

/** An endpoint to send a test to, also while it is stopped. */
export async function signedEndpoint(db: Queryable, id: EndpointId): Promise<SignedEndpoint> {
  const { rows } = await db.query<RowOf<SignedEndpoint>>(
    `select id, company_id, url, failing_since,
            array_remove(array[secret, case when previous_until > clock_timestamp() then previous_secret end], null) as sealed_secrets
       from webhook_endpoint
      where id = $1`,
    [id],
  )
  if (!rows[0]) throw new Problem('webhook_unknown')
  return fromRow<SignedEndpoint>(rows[0])
}

/** The companies that have endpoints, also stopped ones: what changes waits for these. */
export async function listCompaniesWithEndpoints(db: Queryable): Promise<CompanyId[]> {
  const { rows } = await db.query<{ id: CompanyId }>('select distinct company_id as id from webhook_endpoint')
  return rows.map(({ id }) => id)
}

/** Seals every secret with the current secret key that is not yet. One that is changed meanwhile stays as it was made. Safe to repeat. */
export async function resealWebhookSecrets(db: Queryable, secretKey: SecretKey): Promise<void> {
  for (const column of ['secret', 'previous_secret'] as const) {
    for (const { id, sealed } of await listOutdated(db, secretKey, column)) {
      await db.query(`update webhook_endpoint set ${column} = $3 where id = $1 and ${column} = $2`, [
        id,
        sealed,
        await sealText(secretKey, await unsealText(secretKey, sealed)),
      ])
    }
  }
}

/** How many secrets are sealed with another secret key than the current one. */
export async function countOutdatedWebhookSecrets(db: Queryable, secretKey: SecretKey): Promise<number> {
  const [current, previous] = [
    await listOutdated(db, secretKey, 'secret'),
    await listOutdated(db, secretKey, 'previous_secret'),
  ]
  return current.length + previous.length
}

async function listOutdated(db: Queryable, secretKey: SecretKey, column: 'secret' | 'previous_secret') {
  const { rows } = await db.query<{ id: string; sealed: string }>(
    `select id, ${column} as sealed from webhook_endpoint where ${column} is not null`,
  )
  return rows.filter(({ sealed }) => !isSealedAnew(secretKey, sealed))
}

function endpointOf(row: RowOf<Endpoint> | undefined): Endpoint {
  if (!row) throw new Error('an endpoint was not stored')
  return fromRow<Endpoint>(row)
}

/** In the contract's order, each once. */
function typesOf(types: readonly ChangeKind[]): ChangeKind[] {
  const known = changeKinds.filter((kind) => types.includes(kind))
  if (known.length === 0) throw new Problem('field_invalid', { errors: 'Choose at least one type.' })
  return known
}

/** Whether its name has public addresses is asked at each attempt. `allowPrivate`: also http, for the sandbox. */
function requireEndpointUrl(text: string, allowPrivate: boolean): string {
  const given = requireText(text, 'the address', 500)
  const url = URL.canParse(given) ? new URL(given) : null
  const isAllowed = url?.protocol === 'https:' || (allowPrivate && url?.protocol === 'http:')
  if (!url || !isAllowed || url.username !== '' || url.password !== '' || url.hash !== '')
    throw new Problem('field_invalid', {
      errors: 'The address must be an https URL without a user name and a fragment, like https://example.com/hook.',
    })
  return url.href
}
