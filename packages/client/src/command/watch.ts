import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../api-error.ts'
import type { SyncPosition, SyncStore } from '../sync/store.ts'
import { grantedKeys } from '../sync/sync.ts'
import type { Command } from './context.ts'
import { readPeriod, readSelection, selectionOptions } from './selection.ts'

export const watch: Command = {
  summary: 'print what changes, as it comes, from now on',
  usage: '[--every 10s]',
  details: [
    'One line for each changed record, without its content; with --json the whole record. Keeps nothing: for a copy, use mirror.',
  ],
  options: { every: { value: 'period', summary: 'how often to ask; 10s when left out' }, ...selectionOptions },
  argsMax: 0,
  async run({ client: openClient, given, signal, json, write, say }) {
    const periodMs = readPeriod(given.text('every') ?? '10s', 1)
    const selection = readSelection(given)
    const client = openClient()
    const positions = new Map<string, SyncPosition>()
    const store: SyncStore = {
      positions: async () => [...positions.values()],
      apply: async ({ position }) => void positions.set(`${position.locationId}/${position.dataset}`, position),
      // Nothing is kept, so there is nothing to read.
      async *read() {},
      close: async () => {},
    }
    const keys = (await grantedKeys(client.locations, signal)).filter(
      ({ locationId, dataset }) =>
        (selection.locations?.includes(locationId) ?? true) && (selection.datasets?.includes(dataset) ?? true),
    )
    for (const { locationId, dataset } of keys) {
      try {
        // One record, for the sake of the watermark that comes with it.
        const { value: page } = await client.dataset(dataset).list({ locationId, pageSize: 1, signal }).pages().next()
        await store.apply({
          locationId,
          dataset,
          kind: 'walk',
          records: [],
          strayIds: [],
          position: { locationId, dataset, watermark: page.watermark, walk: null },
        })
      } catch (error) {
        if (!(error instanceof ApiError) || error.status === 401) throw error
        say(`Location ${locationId}: ${dataset}: ${error.message}`)
      }
    }
    say(`Watching ${positions.size} datasets. Ctrl-C ends it.`)
    for (;;) {
      const lines: string[] = []
      try {
        await client.sync({
          store,
          signal,
          ...selection,
          onEvent(event) {
            if (event.event !== 'page') return
            const { locationId, dataset } = event
            for (const record of event.records) {
              const what = record.attributes.is_hidden === true ? 'removed' : 'changed'
              const at = String(record.attributes.updated_at)
              lines.push(
                json
                  ? JSON.stringify({ change: what, location_id: locationId, dataset, ...record })
                  : `${at}  ${what}  location ${locationId}  ${dataset} ${record.id}`,
              )
            }
          },
        })
      } catch (error) {
        if (!(error instanceof ApiError) || error.status === 401) throw error
        say(`${new Date().toISOString()} ${error.message}`)
      }
      if (lines.length > 0) await write(`${lines.join('\n')}\n`)
      await sleep(periodMs, undefined, { signal })
    }
  },
}
