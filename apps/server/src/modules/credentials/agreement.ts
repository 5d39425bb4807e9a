import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId, MemberId } from '../../platform/identity/identity.ts'
import { requireMember } from '../membership/member.ts'
import { agreementOne } from './agreement-1.ts'

export type Agreement = { version: number; body: string; publishedAt: Date; enforcedAt: Date }

/** Where a company stands with the developer API agreement. */
export type AgreementState = {
  /** The newest version: what its owner is asked to accept. Null before the first one is published. */
  current: Agreement | null
  /** The newest version that its owner accepted. */
  acceptedVersion: number | null
  acceptedAt: Date | null
  acceptedBy: MemberId | null
  /** Whether the version that binds the company now was accepted: without it, no key pair, no token and no read. */
  isInForce: boolean
}

/**
 * SQL that is true when the company accepted the agreement that binds it: a newer version than the last one enforced counts, an older one
 * does not, and having accepted none never suffices. One text for all who ask, so that no API is easier than another.
 */
export function agreementAccepted(companyColumn: '$2' | 'c.id' | 'one.company_id'): string {
  return `exists (
            select 1 from agreement_acceptance a
             where a.company_id = ${companyColumn}
               and a.version >= (select coalesce(max(version), 1) from agreement where enforced_at <= now()))`
}

/** Publishes the first version, the one that comes with the service, when there is none: without one nobody could get a key pair. */
export async function ensureFirstAgreement(pool: Pool): Promise<void> {
  if ((await findCurrentAgreement(pool)) !== null) return
  // Of two first starts the second one's row gives way.
  await pool.query(
    `insert into agreement (version, body, enforced_at)
     values (1, $1, now())
         on conflict (version) do nothing`,
    [agreementOne],
  )
}

/**
 * Publishes the next version. It binds each company from its acceptance on, and every one from `enforcedAt` on. `alongside` happens in the
 * same transaction. Throws a Problem.
 */
export async function publishAgreement(
  pool: Pool,
  agreement: { version: number; body: string; enforcedAt: Date },
  alongside?: (client: Queryable) => Promise<void>,
): Promise<Agreement> {
  if (agreement.body.trim() === '')
    throw new Problem('field_invalid', { errors: 'The text of the agreement is empty.' })
  return await withTransaction(pool, async (client) => {
    await client.query('lock table agreement in share row exclusive mode')
    const next = ((await findCurrentAgreement(client))?.version ?? 0) + 1
    if (agreement.version !== next) {
      throw new Problem('agreement_version_wrong', {
        errors: `The next version of the agreement is ${next}, not ${agreement.version}.`,
      })
    }
    await client.query('insert into agreement (version, body, enforced_at) values ($1, $2, $3)', [
      agreement.version,
      agreement.body,
      agreement.enforcedAt,
    ])
    const published = await findCurrentAgreement(client)
    if (!published) throw new Error('the agreement was not stored')
    await alongside?.(client)
    return published
  })
}

/** The newest version, or null before the first one. */
export async function findCurrentAgreement(db: Queryable): Promise<Agreement | null> {
  const { rows } = await db.query<AgreementRow>(
    'select version, body, published_at, enforced_at from agreement order by version desc limit 1',
  )
  return rows[0] ? toAgreement(rows[0]) : null
}

/** The version that every company must have accepted by now, itself or a newer one; null before the first. */
export async function findRequiredAgreement(db: Queryable): Promise<{ version: number; enforcedAt: Date } | null> {
  const { rows } = await db.query<{ version: number; enforced_at: Date }>(
    'select version, enforced_at from agreement where enforced_at <= now() order by version desc limit 1',
  )
  return rows[0] ? { version: rows[0].version, enforcedAt: rows[0].enforced_at } : null
}

/** A version, or null when there is none of that number. */
export async function findAgreement(db: Queryable, version: number): Promise<Agreement | null> {
  const { rows } = await db.query<AgreementRow>(
    'select version, body, published_at, enforced_at from agreement where version = $1',
    [version],
  )
  return rows[0] ? toAgreement(rows[0]) : null
}

/**
 * Records that a company's owner accepted a version, which must be the newest: it is what they were shown. The role is read in the same
 * transaction, in which `alongside` happens too. Accepting twice keeps the first date. Throws a Problem.
 */
export async function acceptAgreement(
  pool: Pool,
  acceptance: { companyId: CompanyId; memberId: MemberId; version: number },
  alongside?: (client: Queryable) => Promise<void>,
): Promise<void> {
  const { companyId, memberId, version } = acceptance
  await withTransaction(pool, async (client) => {
    const member = await requireMember(client, { side: 'company', id: companyId }, memberId)
    if (member.role !== 'owner') {
      throw new Problem('role_denied', {
        errors: 'Only the owner of the company can accept the developer API agreement. Ask the owner.',
      })
    }
    const current = await findCurrentAgreement(client)
    if (!current) throw new Problem('agreement_unknown', { errors: 'No agreement has been published yet.' })
    if (current.version !== version) {
      throw new Problem('agreement_not_current', {
        errors: `Version ${version} of the agreement is not the current one. Reload the page and accept version ${current.version}.`,
      })
    }
    await client.query(
      `insert into agreement_acceptance (company_id, version, member_id)
       values ($1, $2, $3)
           on conflict (company_id, version) do nothing`,
      [companyId, version, memberId],
    )
    await alongside?.(client)
  })
}

/** Where a company stands with the agreement now. */
export async function agreementInForce(db: Queryable, companyId: CompanyId): Promise<AgreementState> {
  const { rows } = await db.query<{
    version: number | null
    accepted_at: Date | null
    member_id: MemberId | null
    is_in_force: boolean
  }>(
    `select newest.version, newest.accepted_at, newest.member_id, ${agreementAccepted('c.id')} as is_in_force
       from (select $1::uuid as id) c
       left join lateral (
            select version, accepted_at, member_id
              from agreement_acceptance
             where company_id = c.id
             order by version desc
             limit 1) newest on true`,
    [companyId],
  )
  return {
    current: await findCurrentAgreement(db),
    acceptedVersion: rows[0]?.version ?? null,
    acceptedAt: rows[0]?.accepted_at ?? null,
    acceptedBy: rows[0]?.member_id ?? null,
    isInForce: rows[0]?.is_in_force ?? false,
  }
}

/** The newest versions, at most `limit`, each with how many companies accepted it. */
export async function listAgreements(db: Queryable, limit: number): Promise<(Agreement & { companies: number })[]> {
  const { rows } = await db.query<AgreementRow & { companies: string }>(
    `select version, body, published_at, enforced_at,
            (select count(*) from agreement_acceptance a where a.version = agreement.version) as companies
       from agreement
      order by version desc
      limit $1`,
    [limit],
  )
  return rows.map((row) => ({ ...toAgreement(row), companies: Number(row.companies) }))
}

/** Of these companies those that accepted the agreement that binds them. */
export async function companiesInForce(db: Queryable, companyIds: readonly CompanyId[]): Promise<Set<CompanyId>> {
  const { rows } = await db.query<{ id: CompanyId }>(
    `select c.id from unnest($1::uuid[]) as c (id) where ${agreementAccepted('c.id')}`,
    [companyIds],
  )
  return new Set(rows.map((row) => row.id))
}

type AgreementRow = { version: number; body: string; published_at: Date; enforced_at: Date }

function toAgreement(row: AgreementRow): Agreement {
  return { version: row.version, body: row.body, publishedAt: row.published_at, enforcedAt: row.enforced_at }
}
