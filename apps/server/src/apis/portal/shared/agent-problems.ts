import { getDataset } from '@bridgework/contract'
import type { AgentProblem as ShownProblem } from '@bridgework/contract/portal'
import { type AgentProblem, listProblems } from '../../../modules/agents/heartbeat.ts'
import { groupProblems } from '../../../modules/agents/problem-words.ts'
import type { Location } from '../../../modules/directory/location.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import type { AgentId } from '../../../platform/identity/identity.ts'

/** What is wrong with each of these agents, as people read it. Locations that are not among these are left out of the names. */
export async function problemsByAgent(
  db: Queryable,
  agentIds: readonly AgentId[],
  locations: readonly Location[],
): Promise<(agentId: AgentId) => ShownProblem[]> {
  const byAgent = Map.groupBy(await listProblems(db, agentIds), ({ agentId }) => agentId)
  return (agentId) => toShown(byAgent.get(agentId) ?? [], locations)
}

export function toShown(problems: readonly AgentProblem[], locations: readonly Location[]): ShownProblem[] {
  return groupProblems(problems).map(({ what, todo, since, datasets, locationIds }) => ({
    what,
    todo,
    since: since.toISOString(),
    datasets: datasets.map((name) => getDataset(name).title),
    locations: locations.filter(({ id }) => locationIds.includes(id)).map(({ name }) => name),
  }))
}
