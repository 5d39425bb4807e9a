import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  type AgentDeps,
  type AgentEvent,
  ingestClient,
  openDentalConnector,
  openState,
  runCycle,
  sleep,
  uploadLimits,
} from '@bridgework/agent'
import { runAgentCommand, temporaryFolder, writeTestConfig } from '@bridgework/agent/test-agent'
import type { TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import { grantAccess } from '../../modules/consent/grant.ts'
import { listLocations } from '../../modules/directory/location.ts'
import type { LocationId } from '../../platform/identity/identity.ts'
import { someWorld } from '../../testing/test-world.ts'

export type Office = Awaited<ReturnType<typeof someOffice>>

/**
 * The whole way of a record: an Open Dental database, an agent that reads it, the service over HTTP, and a vendor to whom the practice
 * opened everything that it has and will have. `timeZone`, `uploadLines`: the agent's settings.
 */
export async function someOffice(
  t: TestContext,
  database: Pick<TestDatabase, 'settings'>,
  { timeZone = null, uploadLines }: { timeZone?: string | null; uploadLines?: number } = {},
) {
  const world = await someWorld(t)
  const organizationId = await world.addOrganization('The practice')
  const agent = await world.addAgent(organizationId)
  const vendor = await world.addVendor()
  const { companyId } = vendor
  const whole = { locationIds: 'all', datasets: 'all', notes: true, by: 'the practice' } as const
  await grantAccess(world.pool, { companyId, organizationId, ...whole })
  const folder = temporaryFolder(t)
  const config = writeTestConfig(folder, { url: world.url, ...agent }, database.settings, {
    time_zone: timeZone,
    ...(uploadLines && { upload_lines_max: uploadLines }),
  })

  return {
    world,
    vendor,
    organizationId,
    /** Settings of the enrolled agent, for `bridgework-agent run --config`. */
    config,
    /** One cycle of the agent as a process of its own. */
    runAgent: () => runAgentCommand(['run', '--once', '--config', config]),
    /** The same agent in this process, never at the same time: quicker where there are many cycles. `now` says which day it is. */
    agentHere: (now?: () => Date) =>
      agentHere(t, join(folder, 'state.sqlite'), { serverUrl: world.url, ...agent }, database, timeZone, now),
    /** Our ids of the practice's locations, by the practice's own. */
    locationIds: async (): Promise<Map<string, LocationId>> =>
      new Map((await listLocations(world.pool, organizationId)).map(({ sourceId, id }) => [sourceId, id])),
  }
}

function agentHere(
  t: TestContext,
  statePath: string,
  identity: { serverUrl: string; agentId: string; agentKey: string; organizationId: string },
  database: Pick<TestDatabase, 'settings'>,
  timeZone: string | null,
  now?: () => Date,
) {
  const state = openState(statePath, identity)
  t.after(() => state.close())
  const events: AgentEvent[] = []
  const deps: AgentDeps = {
    connector: openDentalConnector(database.settings, timeZone, now),
    client: ingestClient(identity),
    state,
    limits: uploadLimits,
    sleep,
    random: Math.random,
    nowMs: Date.now,
    report: (event) => events.push(event),
    signal: new AbortController().signal,
  }
  return { cycle: () => runCycle(deps), events }
}
