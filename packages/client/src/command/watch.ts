import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../api-error.ts'
import type { Bridgework } from '../bridgework.ts'
import type { ChangeRow } from '../changes-resource.ts'
import type { SyncKey, SyncPage, SyncRecord, SyncStore } from '../sync/store.ts'
import { grantedKeys, nameOf, type SyncEvent } from '../sync/sync.ts'
import { createChangeWaiter } from './change-waiter.ts'
import type { Command, Context } from './context.ts'
import { readPeriod, readSelection, selectionOptions } from './selection.ts'
import { stateFileOf } from './state-file.ts'
import { openWatchState, type WatchState } from './watch-state.ts'

export const watch: Command = {
  summary: 'print what changes, as it comes, from where it stopped',
  usage: '[--every 10s] [--state <file>]',
  details: [
    'Prints a line for each changed record (with --json the whole record), and for each dataset of a location that is granted or revoked.',
    'The first run starts with changes from now on; a later run with the same options continues where the last one stopped. It may print a line again. It stores no records: use mirror for a copy.',
  ],
  options: {
    every: { value: 'period', summary: 'ask this often; left out: when something changed' },
    state: { value: 'file', summary: 'where it keeps how far it is; beside the credentials when left out' },
    anew: { summary: 'begin now, whatever was kept' },
    ...selectionOptions,
  },
  argsMax: 0,
  async run(context) {
    const { env, options, signal, json, write, say } = context
    const every = options.text('every')
    const periodMs = every === undefined ? null : readPeriod(every, 1)
    const selection = readSelection(options)
    const client = context.client()
    const file = options.text('state') ?? stateFileOf(env, 'watch', [client.baseUrl, selection])
    const state = await openWatchState(file, client.baseUrl, options.flag('anew'))
    // What becomes known between two pages waits for the next one: a page is printed at the reader's pace, before another is asked for.
    let news: string[] = []
    const print = async (lines: readonly string[]) => {
      const text = [...news, ...lines].map((line) => `${line}\n`).join('')
      news = []
      if (text !== '') await write(text)
    }
    const report = (change: string, key: SyncKey) => void news.push(lineOf(json, change, key))
    const store: SyncStore = {
      ...state.store,
      async apply(page) {
        await print(linesOf(json, page))
        await state.store.apply(page)
      },
    }
    const untilChange = createChangeWaiter(client, signal)
    try {
      let hasBegun = false
      let hasFailed = false
      for (;;) {
        const rows = periodMs === null ? await untilChange(hasFailed) : null
        hasFailed = false
        try {
          if (!hasBegun || rows === null || rows.some((row) => mayBeNew(row, state))) {
            const granted = await beginGranted(context, client, state, selection)
            // On the very first round nothing is news.
            if (hasBegun || state.isKept) for (const key of granted) report('granted', key)
          }
          if (!hasBegun) say(`Watching ${state.positions.size} datasets. Ctrl-C ends it.`)
          hasBegun = true
          const { failed } = await client.sync({ store, signal, ...selection, onEvent: listener(state, report) })
          hasFailed = failed.length > 0
        } catch (error) {
          if (!(error instanceof ApiError) || error.status === 401) throw error
          hasFailed = true
          say(`${new Date().toISOString()} ${error.message}`)
        }
        await print([])
        if (hasBegun) await state.keep()
        if (periodMs !== null) await sleep(periodMs, undefined, { signal })
      }
    } finally {
      await state.close()
    }
  },
}

/** Whether something may be granted that has no place yet. */
function mayBeNew(row: ChangeRow, { positions }: WatchState): boolean {
  return row.type === 'grant' || row.type === 'location' || (row.type === 'dataset' && !positions.has(row.id))
}

/** A line for each record that changed. The first walk of what was granted after the others is none of changes. */
function linesOf(json: boolean, { previous, records, ...key }: SyncPage): string[] {
  if (!previous?.watermark) return []
  return records.map((record) =>
    lineOf(json, record.attributes.is_hidden === true ? 'removed' : 'changed', key, record),
  )
}

function listener(state: WatchState, report: (change: string, key: SyncKey) => void) {
  const begun = new Set<string>()
  return (event: SyncEvent) => {
    const { event: what, ...key } = event
    if (what === 'restored') report('restored', key)
    if (what === 'revoked' || what === 'lost') {
      // Granted again, it is new again.
      state.positions.delete(nameOf(key))
      report(what, key)
    }
    // Granted a moment ago, after the others: read in full this once, and told in one line as they were, when it can be read.
    if (what === 'begun') begun.add(nameOf(key))
    if (what === 'current' && begun.has(nameOf(key))) report('granted', key)
  }
}

function lineOf(json: boolean, change: string, { locationId, dataset }: SyncKey, record?: SyncRecord): string {
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
      state.positions.set(nameOf(key), { ...key, watermark: page.watermark, epoch: page.epoch, walk: null })
      begun.push(key)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error
      if (error.code !== 'preview_off' || selection.datasets)
        say(`Location ${locationId}: ${dataset}: ${error.message}`)
    }
  }
  return begun
}
