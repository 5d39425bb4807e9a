import type { Bridgework } from '../../client/src/bridgework.ts'
import type { Mirror } from './mirror.ts'

/** What may be read, by the service where there is a key pair, which knows it now; otherwise by the mirror. */
export async function listLocations(client: Bridgework | null, mirror: Mirror | null) {
  if (!client) {
    const { rows } = await requireMirror(mirror).ask(
      `select cast(l.id as text) as id, l.name, cast(l.organization_id as text) as organization_id, o.name as organization,
              l.time_zone, l.currency, l.is_active, l.datasets_granted
         from locations as l
         left join organizations as o on o.id = l.organization_id
        order by l.id limit 1000`,
    )
    const granted = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value)
    return {
      from: 'mirror',
      rows: rows.map((row) => ({
        ...row,
        is_active: Boolean(row.is_active),
        datasets_granted: granted(row.datasets_granted),
      })),
      has_more: rows.length === 1000,
    }
  }
  const rows = []
  for await (const { id, attributes } of client.locations.list()) {
    const { name, organization_id, time_zone, currency, is_active, datasets_granted } = attributes
    rows.push({ id, name, organization_id, time_zone, currency, is_active, datasets_granted })
  }
  return { from: 'service', rows, has_more: false }
}

/**
 * How current each dataset of each location is: at the service, with removals that wait for a person and access that has ended, and in the mirror. Times
 * are of the practice's system: `synced_at` is when it was last read completely.
 */
export async function listFreshness(client: Bridgework | null, mirror: Mirror | null) {
  const rows: Record<string, unknown>[] = []
  if (client) {
    for await (const { type, attributes } of client.changes.list())
      rows.push({ at: 'service', is: type, ...attributes })
  }
  if (mirror) {
    const { rows: states } = await mirror.ask(
      `select cast(location_id as text) as location_id, dataset, state, synced_at, lag_seconds, is_complete, checked_at
         from sync_state order by location_id, dataset limit 10000`,
    )
    for (const { is_complete, lag_seconds, ...row } of states) {
      const lag = lag_seconds === null ? null : Math.round(Number(lag_seconds))
      rows.push({ at: 'mirror', ...row, lag_seconds: lag, is_complete: Boolean(is_complete) })
    }
  }
  return { rows, has_more: false }
}

function requireMirror(mirror: Mirror | null): Mirror {
  if (!mirror) throw new Error('There is neither a key pair nor a mirror.')
  return mirror
}
