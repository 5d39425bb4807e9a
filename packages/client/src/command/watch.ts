import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../api-error.ts'
import type { Bridgework } from '../bridgework.ts'
import type { SyncKey } from '../sync/store.ts'
import { grantedKeys, nameOf, type SyncEvent } from '../sync/sync.ts'
import type { Command, Context } from './context.ts'
import { readPeriod, readSelection, selectionOptions } from './selection.ts'
import { openWatchState, type WatchState, watchFile } from './watch-state.ts'

export const watch: Command = {
  summary: 'print what changes, as it comes, from where it stopped',
  usage: '[--every 10s] [--state <file>]',
  details: [
    'One line for each changed record, without its content; with --json the whole record. One for each dataset of a location that is granted or revoked.',
    'It begins with what changes from now on, and goes on where it stopped when it is started again with the same options. What was not printed to its end is printed again. Keeps no record: for a copy, use mirror.',
  ],
  options: {
    every: { value: 'period', summary: 'how often to ask; 10s when left out' },
    state: { value: 'file', summary: 'where it keeps how far it is; beside the credentials when left out' },
    anew: { summary: 'begin now, whatever was kept' },
    ...selectionOptions,
  },
  argsMax: 0,
  async run(context) {
    const { env, given, signal, json, write, say } = context
    const periodMs = readPeriod(given.text('every') ?? '10s', 1)
    const selection = readSelection(given)
    const client = context.client()
    const file = given.text('state') ?? watchFile(env, client.baseUrl, selection)
    const state = await openWatchState(file, client.baseUrl, given.flag('anew'))
    try {
      let hasBegun = false
      for (;;) {
        const lines: string[] = []
        const print = (change: string, key: SyncKey, record?: Changed) => lines.push(lineOf(json, change, key, record))
        try {
          const granted = await beginGranted(context, client, state, selection)
          // On the very first round nothing is news.
          if (hasBegun || state.isKept) for (const key of granted) print('granted', key)
          if (!hasBegun) say(`Watching ${state.positions.size} datasets. Ctrl-C ends it.`)
          hasBegun = true
          await client.sync({
            store: state.store,
            signal,
            ...selection,
            onEvent: listener(state, print),
          })
        } catch (error) {
          if (!(error instanceof ApiError) || error.status === 401) throw error
          say(`${new Date().toISOString()} ${error.message}`)
        }
        if (lines.length > 0) await write(`${lines.join('\n')}\n`)
        if (hasBegun) await state.keep()
        await sleep(periodMs, undefined, { signal })
      }
    } finally {
      await state.close()
    }
  },
}

type Changed = Extract<SyncEvent, { event: 'page' }>['records'][number]

function listener(state: WatchState, print: (change: string, key: SyncKey, record?: Changed) => void) {
  const begun = new Set<string>()
  return (event: SyncEvent) => {
    const { event: what, ...key } = event
    if (what === 'revoked') {
      // Granted again, it is new again.
      state.positions.delete(nameOf(key))
      print('revoked', key)
    }
    // Granted a moment ago, after the others: read in full this once, and told in one line as they were, when it can be read.
    if (what === 'begun') begun.add(nameOf(key))
    if (what === 'current' && begun.has(nameOf(key))) print('granted', key)
    if (event.event !== 'page' || event.isInitial) return
    for (const record of event.records) {
      print(record.attributes.is_hidden === true ? 'removed' : 'changed', event, record)
    }
  }
}

function lineOf(json: boolean, change: string, { locationId, dataset }: SyncKey, record?: Changed): string {
  if (json) return JSON.stringify({ change, location_id: locationId, dataset, ...record })
  const at = record ? String(record.attributes.updated_at) : new Date().toISOString()
  return `${at}  ${change}  location ${locationId}  ${dataset}${record ? ` ${record.id}` : ''}`
}

/** Gives what may be read and is not watched yet its place: now. */
async function beginGranted(
  { signal, say }: Context,
  client: Bridgework,
  state: WatchState,
  selection: ReturnType<typeof readSelection>,
): Promise<SyncKey[]> {
  const begun: SyncKey[] = []
  for (const key of await grantedKeys(client.locations, signal)) {
    const { locationId, dataset } = key
    if (selection.locations?.includes(locationId) === false || selection.datasets?.includes(dataset) === false) continue
    if (state.positions.has(nameOf(key))) continue
    try {
      // One record, for the sake of the watermark that comes with it.
      const { value: page } = await client.dataset(dataset).list({ locationId, pageSize: 1, signal }).pages().next()
      state.positions.set(nameOf(key), { ...key, watermark: page.watermark, walk: null })
      begun.push(key)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error
      if (error.code !== 'preview_off' || selection.datasets)
        say(`Location ${locationId}: ${dataset}: ${error.message}`)
    }
  }
  return begun
}
