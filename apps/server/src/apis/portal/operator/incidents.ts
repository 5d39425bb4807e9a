import type { Incident as ShownIncident } from '@bridgework/contract/portal'
import { type Incident, listIncidents, openIncident, updateIncident } from '../../../modules/incidents/incident.ts'
import { statusKeptMs } from '../../../modules/incidents/public-status.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { recordOperation } from '../shared/audit.ts'
import type { PortalHandlers } from '../shared/context.ts'

/** What went wrong with the service: what operators write of it, and what everyone reads. */
export const incidentHandlers: PortalHandlers<'getStatus' | 'listIncidents' | 'openIncident' | 'updateIncident'> = {
  getStatus: async ({ publicStatus }, { reply }) => {
    const incidents = await publicStatus()
    reply.header('Cache-Control', `public, max-age=${statusKeptMs / 1000}`)
    return { incidents: incidents.map(toShown) }
  },

  listIncidents: async ({ pool }) => ({ data: (await listIncidents(pool, new Date(0), incidentsMax)).map(toShown) }),

  openIncident: async ({ pool, now }, call) => {
    const { title, state, text } = call.body
    return await withTransaction(pool, async (client) => {
      const incident = await openIncident(client, { title, state, text, postedAt: now() })
      await recordOperation(client, call, 'operator.incident_post', { incident: nameOf(incident), state })
      return { id: incident.id }
    })
  },

  updateIncident: async ({ pool, now }, call) => {
    const { state, text } = call.body
    await withTransaction(pool, async (client) => {
      const incident = await updateIncident(client, call.params.incident_id ?? '', { state, text, postedAt: now() })
      await recordOperation(client, call, 'operator.incident_post', { incident: nameOf(incident), state })
    })
    return { done: true }
  },
}

const incidentsMax = 100

function nameOf({ id, title }: { id: string; title: string }) {
  return { id, name: title }
}

function toShown({ id, title, beganAt, updates }: Incident): ShownIncident {
  return {
    id,
    title,
    state: updates[0].state,
    began_at: beganAt.toISOString(),
    updates: updates.map(({ state, text, postedAt }) => ({ state, text, posted_at: postedAt.toISOString() })),
  }
}
