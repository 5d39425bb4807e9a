import { isEarlierRelease } from '@bridgework/contract/release'
import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import { requireText } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { type AgentId, newNumericId, type OrganizationId } from '../../platform/identity/identity.ts'
import { isSecret, newSecret, type SecretKey } from '../credentials/secret.ts'
import { lockOrganization } from '../directory/organization.ts'
import { replaceAgent } from './location-writer.ts'
import type { ReleaseFailure } from './release.ts'

/** Proof that a request came from a living agent of this organization. Only `authenticateAgent` makes one. */
export type AgentPrincipal = {
  readonly brand: 'AgentPrincipal'
  readonly agentId: AgentId
  readonly organizationId: OrganizationId
  /** The process of it whose requests are taken; null: any. */
  readonly processId: string | null
}

/** What runs in an office. `lastContactAt` is null until its first request. */
export type Agent = {
  id: AgentId
  organizationId: OrganizationId
  name: string
  version: string | null
  enrolledAt: Date
  revokedAt: Date | null
  lastContactAt: Date | null
  /** The last release that it did not take, and why; null: none, or it runs that one or a later one by now. */
  failedRelease: string | null
  failedReleaseOutcome: ReleaseFailure | null
  /** The computer on which the process runs whose requests are taken; null: none is known. */
  computer: string | null
  /** Another copy of it that was refused within a day; null: none. */
  copy: AgentCopy | null
}

/** A second copy of an agent's folder that a person has to decide about; `at`: when it was refused, ISO 8601. */
export type AgentCopy = { processId: string; computer: string; at: string }

const codeLifetimeMs = 24 * 60 * 60 * 1000

/**
 * A code with which one agent can enrol once, for a day by default. `alongside` happens in the same transaction. Throws a Problem
 * when there is no such organization.
 */
export async function createEnrolmentCode(
  pool: Pool,
  secretKey: SecretKey,
  options: { organizationId: OrganizationId; lifetimeMs?: number },
  alongside?: (client: Queryable) => Promise<void>,
): Promise<{ code: string; expiresAt: Date }> {
  const code = newSecret('bwe')
  return await withTransaction(pool, async (client) => {
    await lockOrganization(client, options.organizationId)
    const { rows } = await client.query<{ expires_at: Date }>(
      `insert into enrolment_code (code_hmac, secret_key_id, organization_id, expires_at)
       values ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond')
       returning expires_at`,
      [secretKey.hmac(code), secretKey.id, options.organizationId, options.lifetimeMs ?? codeLifetimeMs],
    )
    if (!rows[0]) throw new Error('the enrolment code was not stored')
    await alongside?.(client)
    return { code, expiresAt: rows[0].expires_at }
  })
}

/**
 * Turns a code into an agent with a new id and a key, which is shown here and never again. Of several tries with one code exactly one
 * succeeds: the update that marks it used is the check. `replacedKey`: the key of the agent whose place it takes, which ends. Throws Problem
 * enrolment_code_invalid.
 */
export async function enrollAgent(
  pool: Pool,
  secretKey: SecretKey,
  enrolment: { code: string; name?: string; version?: string; replacedKey?: string },
): Promise<{ agentId: AgentId; agentKey: string; organizationId: OrganizationId }> {
  if (!isSecret('bwe', enrolment.code)) throw new Problem('enrolment_code_invalid', { because: 'form' })
  const name = requireText(enrolment.name ?? 'Agent', 'the name of an agent')
  const version = enrolment.version === undefined ? null : requireText(enrolment.version, 'the version of an agent')
  return await withTransaction(pool, async (client) => {
    // A code of later than now is refused like an expired one: the clock was set back, and the code would live longer by that.
    const { rows } = await client.query<{ organization_id: OrganizationId }>(
      `with moment as (select clock_timestamp() as at, clock_timestamp() + interval '1 minute' as next_minute)
       update enrolment_code
          set used_at = moment.at
         from moment
        where code_hmac = any($1::bytea[]) and used_at is null
          and expires_at >= moment.at and created_at <= moment.next_minute
        returning organization_id`,
      [secretKey.hmacs(enrolment.code)],
    )
    if (!rows[0]) throw new Problem('enrolment_code_invalid', { because: 'unknown, expired or used' })
    const agent = {
      agentId: newNumericId<AgentId>(),
      agentKey: newSecret('bwa'),
      organizationId: rows[0].organization_id,
    }
    await client.query(
      `insert into agent (id, organization_id, name, version, key_hmac, secret_key_id)
       values ($1, $2, $3, $4, $5, $6)`,
      [agent.agentId, agent.organizationId, name, version, secretKey.hmac(agent.agentKey), secretKey.id],
    )
    if (enrolment.replacedKey !== undefined) {
      const replaced = await findByKey(client, secretKey, enrolment.replacedKey)
      if (replaced?.organizationId === agent.organizationId) await replaceAgent(client, replaced.agentId, agent.agentId)
    }
    return agent
  })
}

/**
 * The living agent whose key the Authorization header carries. Found by the key's hash, which nobody without the installation's key can
 * steer towards another one, so the search gives nothing away. Throws Problem agent_key_invalid, for garbage without asking the database.
 */
export async function authenticateAgent(
  pool: Queryable,
  secretKey: SecretKey,
  authorizationHeader: string | undefined,
): Promise<AgentPrincipal> {
  const key = /^Bearer ([\w-]+)$/i.exec(authorizationHeader ?? '')?.[1] ?? ''
  if (!isSecret('bwa', key)) throw new Problem('agent_key_invalid', { because: 'form' })
  const agent = await findByKey(pool, secretKey, key)
  if (!agent) throw new Problem('agent_key_invalid', { because: 'unknown or revoked' })
  return { brand: 'AgentPrincipal', ...agent }
}

async function findByKey(
  db: Queryable,
  secretKey: SecretKey,
  key: string,
): Promise<Omit<AgentPrincipal, 'brand'> | null> {
  const { rows } = await db.query<{
    id: AgentId
    organization_id: OrganizationId
    key_hmac: Buffer
    process_id: string | null
  }>({
    name: 'authenticate-agent',
    text: `select a.id, a.organization_id, a.key_hmac, p.process_id
             from agent a
             left join agent_process p on p.agent_id = a.id
            where a.key_hmac = any($1::bytea[]) and a.revoked_at is null`,
    values: [secretKey.hmacs(key)],
  })
  const [found] = rows
  if (!found) return null
  if (secretKey.isOutdated(key, found.key_hmac)) await storeAnew(db, secretKey, found.id, key)
  return { agentId: found.id, organizationId: found.organization_id, processId: found.process_id }
}

/** During a rotation of the secret key: the hash cannot be made anew from the old one, only when its key is seen. */
async function storeAnew(db: Queryable, secretKey: SecretKey, id: AgentId, key: string): Promise<void> {
  await db.query('update agent set key_hmac = $2, secret_key_id = $3 where id = $1', [
    id,
    secretKey.hmac(key),
    secretKey.id,
  ])
}

/** Ends an agent's key at its next request. Throws a Problem when there is no such living agent, or it is not of that organization. */
export async function revokeAgent(
  db: Queryable,
  agentId: AgentId,
  organizationId: OrganizationId | null = null,
): Promise<{ name: string; organizationId: OrganizationId }> {
  const { rows } = await db.query<{ name: string; organization_id: OrganizationId }>(
    `with moment as (select clock_timestamp() as at)
     update agent
        set revoked_at = moment.at
       from moment
      where id = $1 and organization_id = coalesce($2, organization_id) and revoked_at is null
      returning name, organization_id`,
    [agentId, organizationId],
  )
  if (rows[0]) return { name: rows[0].name, organizationId: rows[0].organization_id }
  throw new Problem('agent_unknown', { errors: `There is no agent ${agentId}, or its key was already revoked.` })
}

/** At most so many ids of agents after this one, rising: for work that goes over every agent, off the hot path. */
export async function listAgentIdsAfter(db: Queryable, after: AgentId, limit: number): Promise<AgentId[]> {
  const { rows } = await db.query<{ id: AgentId }>('select id from agent where id > $1 order by id limit $2', [
    after,
    limit,
  ])
  return rows.map(({ id }) => id)
}

/** The agents of an organization, or of all (null): those whose key is live first, then the newest. At most `limit`, where there is one. */
export async function listAgents(
  db: Queryable,
  organizationId: OrganizationId | null,
  limit: number | null = null,
): Promise<Agent[]> {
  const { rows } = await db.query<RowOf<Agent>>(
    `select a.id, a.organization_id, a.name, a.version, a.enrolled_at, a.revoked_at, c.last_contact_at,
            a.failed_release, a.failed_release_outcome, p.computer,
            case when p.refused_at > clock_timestamp() - interval '1 day'
                 then jsonb_build_object('processId', p.refused_id, 'computer', p.refused_computer, 'at', p.refused_at)
            end as copy
       from agent a
       left join agent_contact c on c.agent_id = a.id
       left join agent_process p on p.agent_id = a.id
      ${organizationId === null ? '' : 'where a.organization_id = $2'}
      order by a.revoked_at is not null, a.enrolled_at desc, a.id
      limit $1`,
    organizationId === null ? [limit] : [limit, organizationId],
  )
  return rows.map((row) => {
    const agent = fromRow<Agent>(row)
    const { version, failedRelease } = agent
    const isOver = failedRelease !== null && version !== null && !isEarlierRelease(version, failedRelease)
    return isOver ? { ...agent, failedRelease: null, failedReleaseOutcome: null } : agent
  })
}
