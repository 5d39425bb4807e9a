import type { IncidentState } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { requireText } from '../../platform/errors/field.ts'
import { Problem } from '../../platform/errors/problem.ts'

/** What the operator says of an incident at one moment. */
export type IncidentUpdate = { state: IncidentState; text: string; postedAt: Date }

/** An incident with all that was said of it, newest first: there is always something. */
export type Incident = { id: string; title: string; beganAt: Date; updates: [IncidentUpdate, ...IncidentUpdate[]] }

/** Opens an incident with its first update; everyone can read it once it is committed. Throws Problem field_invalid for an empty text. */
export async function openIncident(
  client: Queryable,
  { title, ...update }: IncidentUpdate & { title: string },
): Promise<{ id: string; title: string }> {
  const { rows } = await client.query<{ id: string; title: string }>(
    'insert into incident (title, began_at) values ($1, $2) returning id, title',
    [requireText(title, 'a title'), update.postedAt],
  )
  const [incident] = rows
  if (!incident) throw new Error('an incident without its row')
  await addUpdate(client, incident.id, update)
  return incident
}

/** Adds an update. Throws Problem not_found when there is no such incident, or field_invalid. */
export async function updateIncident(
  client: Queryable,
  id: string,
  update: IncidentUpdate,
): Promise<{ id: string; title: string }> {
  const { rows } = await client.query<{ id: string; title: string }>(
    'select id, title from incident where id = $1 for no key update',
    [/^[1-9]\d{0,17}$/.test(id) ? id : null],
  )
  const [incident] = rows
  if (!incident) throw new Problem('not_found')
  await addUpdate(client, incident.id, update)
  return incident
}

async function addUpdate(client: Queryable, id: string, { state, text, postedAt }: IncidentUpdate): Promise<void> {
  await client.query('insert into incident_update (incident_id, state, body, posted_at) values ($1, $2, $3, $4)', [
    id,
    state,
    requireText(text.replace(/\s+/g, ' '), 'the text', textMax),
    postedAt,
  ])
}

const textMax = 2_000

/** Incidents that are not resolved and those with an update since then, the newest first; at most so many. */
export async function listIncidents(db: Queryable, since: Date, limit: number): Promise<Incident[]> {
  const { rows } = await db.query<{
    id: string
    title: string
    began_at: Date
    updates: { state: IncidentState; text: string; posted_at: string }[]
  }>(
    `select i.id, i.title, i.began_at,
            (select json_agg(json_build_object('state', u.state, 'text', u.body, 'posted_at', u.posted_at) order by u.id desc)
               from incident_update u
              where u.incident_id = i.id) as updates
       from incident i
      cross join lateral (
            select state, posted_at from incident_update u where u.incident_id = i.id order by u.id desc limit 1) newest
      where newest.state <> 'resolved' or newest.posted_at >= $1
      order by i.id desc
      limit $2`,
    [since, limit],
  )
  return rows.map(({ id, title, began_at, updates }) => {
    const [newest, ...earlier] = updates.map((each) => ({
      state: each.state,
      text: each.text,
      postedAt: new Date(each.posted_at),
    }))
    if (!newest) throw new Error('an incident without an update')
    return { id, title, beganAt: began_at, updates: [newest, ...earlier] }
  })
}
