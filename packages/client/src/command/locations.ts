import type { LocationRecord } from '../directory-resource.ts'
import type { Command } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import { tableOf } from './table.ts'

export const locations: Command = {
  summary: 'list the locations that this key pair may read',
  usage: '[--organization <id>]',
  options: {
    organization: { value: 'id', summary: 'only those of this organization' },
    'with-attribution-script': { summary: 'only those whose website carries the attribution script' },
  },
  argsMax: 0,
  async run({ client, options, signal, json, write, say }) {
    const organizationId = options.text('organization')
    const withAttributionScript = options.flag('with-attribution-script')
    const found: LocationRecord[] = []
    const list = client().locations.list({ signal, withAttributionScript, ...(organizationId && { organizationId }) })
    for await (const location of list) {
      if (json) await write(`${JSON.stringify(location)}\n`)
      else found.push(location)
    }
    if (json) return exitCodes.done
    const rows = found.map(({ id, attributes: { name, city, sync, practice_management_system: pms, ...rest } }) => [
      id,
      name,
      city ?? '',
      pms.name ?? '',
      sync.state,
      sync.synced_at ?? '',
      rest.datasets_granted.join(' '),
    ])
    if (rows.length === 0) say('No location has granted access to your company yet. Ask the practice for access.')
    else await write(tableOf(['ID', 'NAME', 'CITY', 'SYSTEM', 'STATE', 'SYNCED AT', 'DATASETS'], rows))
    return exitCodes.done
  },
}
