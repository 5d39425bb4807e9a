import type { ProcessStart } from '@bridgework/contract/ingest'
import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import type { AgentId, OrganizationId } from '../../platform/identity/identity.ts'
import { raiseFences } from './location-writer.ts'

/** The process of an agent whose requests are taken. `isHeard`: lately enough to be alive. */
type Known = {
  readonly id: string
  readonly place: string
  readonly isHeard: boolean
  /** The highest number of the agent's uploads, where a state with a lower one needs an excuse; null: no number does. */
  readonly highest: string | null
}

/** `moved`: accepted, and what the process before it has under way comes to nothing. */
type Decision = 'accepted' | 'moved' | 'refused'

/**
 * Takes the requests of this process of an agent from now on, or throws agent_copied and notes the copy for people. Returns whether the agent must
 * compare everything, because another copy of it may have written. The cases: docs/decisions/agent-processes.md.
 */
export async function startProcess(pool: Pool, agentId: AgentId, start: ProcessStart): Promise<boolean> {
  const decision = await withTransaction(pool, async (client) => {
    if (await keepFirst(client, agentId, start)) return 'accepted'
    const decided = decide(await lockKnown(client, agentId), start)
    if (decided === 'refused') await noteCopy(client, agentId, start)
    else await keepProcess(client, agentId, start)
    if (decided === 'moved') await raiseFences(client, agentId)
    return decided
  })
  if (decision === 'refused') throw await copied(pool, agentId)
  return decision === 'moved'
}

/**
 * A restart names the process before it, has higher numbers than that used, and only one process at a time has the state of a place open. From
 * another place, or with a new state, it may still be a copy beside one that runs.
 */
export function decide(known: Known, start: ProcessStart): Decision {
  if (known.id === start.id) return 'accepted'
  const isSamePlace = known.place === start.place
  const isNext = start.before.includes(known.id)
  const isOlder = known.highest !== null && start.next_upload <= Number(known.highest)
  if (isNext ? isOlder : !start.is_new) return 'refused'
  if (isSamePlace) return isNext ? 'accepted' : 'moved'
  return known.isHeard ? 'refused' : 'moved'
}

/** Throws agent_copied for a request of another process than the one whose requests are taken. */
export async function requireProcess(db: Queryable, agentId: AgentId, known: string | null, id: string): Promise<void> {
  if (known !== null && known !== id) throw await copied(db, agentId)
}

/**
 * A person lets the refused copy go on in place of the one that was taken, which is refused from then on. `processId`: the copy that the person saw.
 * Returns the agent's name. Throws agent_unknown where that copy is not refused any more.
 */
export async function takeOverProcess(
  client: Queryable,
  {
    agentId,
    processId,
    organizationId,
  }: { agentId: AgentId; processId: string; organizationId: OrganizationId | null },
): Promise<{ name: string; organizationId: OrganizationId }> {
  const { rows } = await client.query<{ name: string; organization_id: OrganizationId }>(
    `update agent_process p
        set process_id = p.refused_id, place = p.refused_place, computer = p.refused_computer,
            excused_number = coalesce((select highest from agent_number n where n.agent_id = p.agent_id), 0), ${nothingRefused}
       from agent a
      where a.id = p.agent_id and a.id = $1 and a.organization_id = coalesce($3, a.organization_id)
        and a.revoked_at is null and p.refused_id = $2
     returning a.name, a.organization_id`,
    [agentId, processId, organizationId],
  )
  const [row] = rows
  if (!row)
    throw new Problem('agent_unknown', {
      errors: `Agent ${agentId} has no refused copy of this name, or the copy was started again. Look at it again.`,
    })
  await raiseFences(client, agentId)
  return { name: row.name, organizationId: row.organization_id }
}

/** The service lost which processes came last: the next one of each agent is taken. */
export async function forgetProcesses(client: Queryable): Promise<void> {
  await client.query('delete from agent_process')
}

const nothingRefused = 'refused_id = null, refused_place = null, refused_computer = null, refused_at = null'

async function keepFirst(client: Queryable, agentId: AgentId, { id, place, computer }: ProcessStart): Promise<boolean> {
  const { rows } = await client.query(
    `insert into agent_process (agent_id, process_id, place, computer)
     values ($1, $2, $3, $4)
         on conflict (agent_id) do nothing
     returning agent_id`,
    [agentId, id, place, computer],
  )
  return rows.length > 0
}

/** An agent asks every minute or so: of one that was not heard for three, another copy may take the place. */
async function lockKnown(client: Queryable, agentId: AgentId): Promise<Known> {
  const { rows } = await client.query<Known>(
    `select p.process_id as id, p.place,
            coalesce(c.last_contact_at > clock_timestamp() - interval '3 minutes', false) as "isHeard",
            case when n.highest > p.excused_number then n.highest end as highest
       from agent_process p
       left join agent_contact c on c.agent_id = p.agent_id
       left join agent_number n on n.agent_id = p.agent_id
      where p.agent_id = $1
        for update of p`,
    [agentId],
  )
  if (!rows[0]) throw new Error('the process of the agent is gone')
  return rows[0]
}

/** What was refused at this place, or is this very process, needs nobody's decision any more. */
async function keepProcess(client: Queryable, agentId: AgentId, { id, place, computer }: ProcessStart): Promise<void> {
  await client.query(`update agent_process set process_id = $2, place = $3, computer = $4 where agent_id = $1`, [
    agentId,
    id,
    place,
    computer,
  ])
  await client.query(
    `update agent_process set ${nothingRefused} where agent_id = $1 and (refused_id = $2 or refused_place = $3)`,
    [agentId, id, place],
  )
}

async function noteCopy(client: Queryable, agentId: AgentId, { id, place, computer }: ProcessStart): Promise<void> {
  await client.query(
    `with moment as (select clock_timestamp() as at)
     update agent_process
        set refused_id = $2, refused_place = $3, refused_computer = $4, refused_at = moment.at
       from moment
      where agent_id = $1`,
    [agentId, id, place, computer],
  )
}

async function copied(db: Queryable, agentId: AgentId): Promise<Problem> {
  const { rows } = await db.query<{ computer: string; last_contact_at: Date | null }>(
    `select p.computer, c.last_contact_at
       from agent_process p
       left join agent_contact c on c.agent_id = p.agent_id
      where p.agent_id = $1`,
    [agentId],
  )
  const computer = rows[0]?.computer ?? null
  const contact = rows[0]?.last_contact_at?.toISOString() ?? null
  return new Problem('agent_copied', {
    errors: `Another copy of this agent is in use, on the computer "${computer}"; its last contact was ${contact ?? 'never'}. If this one should go on, a person lets it take over in the portal, on the page of the agents.`,
    members: { computer, last_contact_at: contact },
  })
}
