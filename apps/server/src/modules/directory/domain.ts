import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { recordAudit } from '../audit/store.ts'
import { findProof, type ProofAccess } from './domain-proof.ts'

/**
 * The domain of a company's website and its proof. States: not proved → proved by a check; proved → not proved by three failed checks in a
 * row, a day apart; another website begins anew with another token.
 */
export type CompanyDomain = {
  companyId: CompanyId
  domain: string
  /** What the DNS record or the file says. Public once it is there, and of use to this company alone. */
  token: string
  /** How it is proved; null: it is not. */
  method: 'dns' | 'file' | null
  verifiedAt: Date | null
  checkedAt: Date | null
  /** Failed checks since the last that passed. */
  failures: number
  /** Why the last check found no proof, in sentences. */
  dnsFailure: string | null
  fileFailure: string | null
}

const columns = 'company_id, domain, token, method, verified_at, checked_at, failures, dns_failure, file_failure'

/** The domain of the company's website; null without one. */
export async function findDomain(db: Queryable, companyId: CompanyId): Promise<CompanyDomain | null> {
  const { rows } = await db.query<RowOf<CompanyDomain>>(`select ${columns} from company_domain where company_id = $1`, [
    companyId,
  ])
  return rows[0] ? fromRow<CompanyDomain>(rows[0]) : null
}

/** Sets the domain of the company's website (null: none), with a new token where it is another than before. */
export async function setDomain(client: Queryable, companyId: CompanyId, domain: string | null): Promise<void> {
  await client.query('delete from company_domain where company_id = $1 and domain is distinct from $2', [
    companyId,
    domain,
  ])
  if (domain === null) return
  await client.query(
    `insert into company_domain (company_id, domain, token) values ($1, $2, $3)
         on conflict (company_id) do nothing`,
    [companyId, domain, `bridgework-verification=${randomBytes(16).toString('base64url')}`],
  )
}

/** Failed checks in a row, a day apart, after which a proof is lost: a name server that is down for a day ends nothing. */
const failuresMax = 3
const checkedEveryMs = 24 * 60 * 60_000
const checkedAgainAfterMs = 10_000
/** What was checked so far ahead was checked before the clock went back; the clocks of several processes differ by less. */
const aheadMs = 60_000

/** Checks the proof now. Throws Problem domain_missing without a website, and domain_checked within 10 seconds of the last check. */
export async function checkDomain(
  deps: { pool: Pool; access: ProofAccess; now: () => Date },
  companyId: CompanyId,
  alongside: (client: Queryable, checked: CompanyDomain) => Promise<void>,
): Promise<void> {
  const begun = await beginCheck(deps.pool, companyId, deps.now(), checkedAgainAfterMs)
  if (!begun) throw new Problem((await findDomain(deps.pool, companyId)) ? 'domain_checked' : 'domain_missing')
  await finishCheck(deps, begun, alongside)
}

/**
 * Checks 20 of the proofs that were checked more than a day ago; several processes may do it at once. The third failure in a row ends one, which the
 * company's history has.
 */
export async function recheckDomains(deps: { pool: Pool; access: ProofAccess; now: () => Date }): Promise<void> {
  const { rows } = await deps.pool.query<{ company_id: CompanyId }>(
    `select company_id from company_domain
      where verified_at is not null and (checked_at <= $1 or checked_at > $2)
      order by checked_at
      limit 20`,
    [new Date(deps.now().getTime() - checkedEveryMs), new Date(deps.now().getTime() + aheadMs)],
  )
  // Side by side: each may wait for a website, and the server's end waits for all, also where one fails.
  const checks = await Promise.allSettled(
    rows.map(async ({ company_id: companyId }) => {
      const begun = await beginCheck(deps.pool, companyId, deps.now(), checkedEveryMs)
      if (begun) await finishCheck(deps, begun, async () => {})
    }),
  )
  const failed = checks.find((check) => check.status === 'rejected')
  if (failed) throw failed.reason
}

/** Claims the check for this process; null when another has it, or had it a moment ago. */
async function beginCheck(
  db: Queryable,
  companyId: CompanyId,
  now: Date,
  afterMs: number,
): Promise<CompanyDomain | null> {
  const { rows } = await db.query<RowOf<CompanyDomain>>(
    `update company_domain set checked_at = $2
      where company_id = $1 and (checked_at is null or checked_at <= $3 or checked_at > $4)
      returning ${columns}`,
    [companyId, now, new Date(now.getTime() - afterMs), new Date(now.getTime() + aheadMs)],
  )
  return rows[0] ? fromRow<CompanyDomain>(rows[0]) : null
}

async function finishCheck(
  { pool, access, now }: { pool: Pool; access: ProofAccess; now: () => Date },
  begun: CompanyDomain,
  alongside: (client: Queryable, checked: CompanyDomain) => Promise<void>,
): Promise<void> {
  const { companyId, domain, token } = begun
  const proof = await findProof(access, domain, token)
  await withTransaction(pool, async (client) => {
    // Another website may have been set meanwhile: its token is another.
    const { rows } = await client.query<RowOf<CompanyDomain>>(
      proof.method === null
        ? `update company_domain
              set failures = failures + 1, dns_failure = $3, file_failure = $4,
                  verified_at = case when failures + 1 < ${failuresMax} then verified_at end,
                  method = case when failures + 1 < ${failuresMax} then method end
            where company_id = $1 and token = $2
            returning ${columns}`
        : `update company_domain
              set failures = 0, dns_failure = null, file_failure = null, method = $3, verified_at = coalesce(verified_at, $4)
            where company_id = $1 and token = $2
            returning ${columns}`,
      proof.method === null
        ? [companyId, token, proof.dnsFailure, proof.fileFailure]
        : [companyId, token, proof.method, now()],
    )
    if (!rows[0]) return
    const checked = fromRow<CompanyDomain>(rows[0])
    await alongside(client, checked)
    if (begun.verifiedAt !== null && checked.verifiedAt === null) {
      await recordAudit(client, {
        side: 'company',
        tenantId: companyId,
        userId: null,
        actor: 'Bridgework',
        action: 'company.domain_lost',
        facts: { domain, checks: failuresMax },
        ip: null,
        requestId: null,
      })
    }
  })
}
