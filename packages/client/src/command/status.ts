import type { Command } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import { tableOf } from './table.ts'

export const status: Command = {
  summary: 'show how current each dataset of each location is',
  usage: '[--location <id>]',
  details: ['LAG is the time since the practice’s system was last read completely.'],
  options: { location: { value: 'id', repeatable: true, summary: 'only this location; may be repeated' } },
  argsMax: 0,
  async run({ client: open, options, signal, json, write, say }) {
    const client = open()
    const wanted = options.list('location')
    const rows: string[][] = []
    for await (const { id, attributes } of client.locations.list({ signal })) {
      if (wanted && !wanted.includes(id)) continue
      for (const { attributes: dataset } of await client.locations.syncStatus({ locationId: id, signal })) {
        const lagSeconds = dataset.synced_at === null ? null : secondsSince(dataset.synced_at)
        if (json) await write(`${JSON.stringify({ location_id: id, ...dataset, lag_seconds: lagSeconds })}\n`)
        else
          rows.push([id, attributes.name, dataset.dataset, dataset.state, String(dataset.total), lagText(lagSeconds)])
      }
    }
    if (json) return exitCodes.done
    if (rows.length === 0) {
      say('No location has granted access to your company yet. Ask the practice for access.')
      return exitCodes.denied
    }
    await write(tableOf(['LOCATION', 'NAME', 'DATASET', 'STATE', 'RECORDS', 'LAG'], rows))
    return exitCodes.done
  },
}

function secondsSince(instant: string): number {
  return Math.max(0, Math.round((Date.now() - Date.parse(instant)) / 1000))
}

function lagText(seconds: number | null): string {
  if (seconds === null) return 'never read'
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}
