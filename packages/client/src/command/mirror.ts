import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../api-error.ts'
import type { StoreEvent, StoreOptions } from '../stores/layout.ts'
import { ndjsonStore } from '../stores/ndjson-store.ts'
import { postgresStore } from '../stores/postgres/postgres-store.ts'
import { sqliteStore } from '../stores/sqlite/sqlite-store.ts'
import { StoreConflictError, type SyncStore } from '../sync/store.ts'
import type { SyncReport } from '../sync/sync.ts'
import type { Verification } from '../sync/verify.ts'
import { createChangeWaiter } from './change-waiter.ts'
import type { Command, Context } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import { readPlace } from './place.ts'
import { grouped, showProgress } from './progress.ts'
import { readPeriod, readSelection, selectionOptions } from './selection.ts'
import { UsageError } from './usage-error.ts'

export const mirror: Command = {
  summary: 'keep a copy of everything that may be read',
  usage: '--to <sqlite:file | postgres://… | folder> [--watch | --every 5m]',
  details: [
    'The first run copies; later runs update the copy. You may stop it at any time: the next run continues.',
    'Other users of the machine can see a password in --to. Set BRIDGEWORK_MIRROR_TO instead.',
  ],
  options: {
    to: { value: 'place', summary: 'sqlite:<file>, postgres://…, or a folder for NDJSON files' },
    watch: { summary: 'go on for ever, and update the copy when something changed' },
    every: { value: 'period', summary: 'go on for ever, with this pause: 30s, 5m, 1h' },
    verify: { summary: 'afterwards compare every record with the service, and mend what differs' },
    ...selectionOptions,
  },
  argsMax: 0,
  async run(context) {
    const { options, env, signal } = context
    const to = options.text('to') ?? env.BRIDGEWORK_MIRROR_TO
    if (!to) throw new UsageError('Missing: --to sqlite:copy.sqlite, --to postgres://… or --to ./folder')
    const every = options.text('every')
    const periodMs = every === undefined ? null : readPeriod(every, 10)
    const isWatching = options.flag('watch')
    if (isWatching && periodMs !== null) throw new UsageError('Choose one of --watch and --every.')
    const selection = readSelection(options)
    const open = storeAt(to)
    const client = context.client()
    const store = await openWithProgress(context, open)
    const untilChange = createChangeWaiter(client, signal)
    let code: number = exitCodes.done
    try {
      for (;;) {
        if (isWatching) await untilChange(code !== exitCodes.done)
        const beganAt = performance.now()
        code = exitCodes.done
        try {
          code = await round(context, client, store, selection)
          if (options.flag('verify')) code = Math.max(code, await compare(context, client, store, selection))
        } catch (error) {
          // With --watch or --every a bad hour of the network ends nothing, nor does another mirror; wrong credentials and a broken store do.
          const mayPass = (error instanceof ApiError && error.status !== 401) || error instanceof StoreConflictError
          if ((periodMs === null && !isWatching) || !mayPass) throw error
          context.say(`${new Date().toISOString()} ${error.message}`)
          code = exitCodes.partly
        }
        if (isWatching) continue
        if (periodMs === null) return code
        await sleep(Math.max(0, periodMs - (performance.now() - beganAt)), undefined, { signal })
      }
    } finally {
      await store.close()
    }
  },
}

/** What opens the target; a misspelt one is refused before anything is asked or made. */
function storeAt(to: string): (options: StoreOptions) => Promise<SyncStore> {
  const place = readPlace(to)
  if (place.kind === 'postgres') return (options) => postgresStore(place.url, options)
  if (place.kind === 'sqlite') return (options) => sqliteStore(place.file, options)
  return (options) => ndjsonStore(place.folder, options)
}

/** Shows how far the conversion of an earlier mirror is, and which of its files others could read. */
async function openWithProgress(context: Context, open: ReturnType<typeof storeAt>): Promise<SyncStore> {
  const progress = showProgress(context)
  let isSaid = context.json
  const onEvent = (event: StoreEvent) => {
    if (event.event === 'made_private') {
      const { file, mode } = event
      context.say(
        `Other users of this machine could open ${file} (its mode was ${mode}). Now only its owner can (0600).`,
      )
      return
    }
    const { records, total } = event
    if (!isSaid) context.say(`Converting the mirror of another version of the client, once: ${grouped(total)} records.`)
    isSaid = true
    progress.update('converted', records, total)
  }
  try {
    return await open({ signal: context.signal, onEvent })
  } finally {
    progress.end()
  }
}

type Selection = ReturnType<typeof readSelection>

async function round(context: Context, client: ReturnType<Context['client']>, store: SyncStore, selection: Selection) {
  const { json, say, write, signal } = context
  const progress = showProgress(context)
  const beganAt = performance.now()
  let report: SyncReport
  try {
    report = await client.sync({
      store,
      signal,
      ...selection,
      onEvent(event) {
        if (event.event === 'page') progress.update(`${event.locationId}/${event.dataset}`, event.read, event.total)
      },
    })
  } finally {
    progress.end()
  }
  const seconds = (performance.now() - beganAt) / 1000
  if (json) await write(`${JSON.stringify(reportOf(report, seconds))}\n`)
  else {
    const rate = seconds > 0 ? Math.round(report.records / seconds) : 0
    say(
      `${new Date().toISOString()} ${report.current} datasets are current; ${grouped(report.records)} records written in ${seconds.toFixed(1)} s (${grouped(rate)}/s)`,
    )
    for (const { locationId, dataset } of report.revoked) {
      say(`Location ${locationId}: ${dataset} is no longer granted. The copy stays as it was.`)
    }
    if (report.restored.length > 0)
      say(`The service was restored from a backup: ${report.restored.length} datasets were read again.`)
    for (const locationId of new Set(report.lost.map((key) => key.locationId)))
      say(`Location ${locationId} was taken out: the service was restored from a backup and does not know it any more.`)
    for (const { locationId, dataset } of report.notGranted) say(`Location ${locationId}: ${dataset} was not granted.`)
    for (const { locationId, dataset, error } of report.failed)
      say(`Location ${locationId}: ${dataset}: ${error.message}`)
  }
  if (report.current === 0 && report.failed.length === 0) {
    say('Your company has no access to any of it. Ask the practice for access.')
    return exitCodes.denied
  }
  return report.failed.length > 0 || report.notGranted.length > 0 ? exitCodes.partly : exitCodes.done
}

function reportOf(report: SyncReport, seconds: number) {
  const keyOf = ({ locationId, dataset }: { locationId: string; dataset: string }) => ({
    location_id: locationId,
    dataset,
  })
  return {
    at: new Date().toISOString(),
    current: report.current,
    records: report.records,
    seconds: Number(seconds.toFixed(3)),
    revoked: report.revoked.map(keyOf),
    restored: report.restored.map(keyOf),
    lost: report.lost.map(keyOf),
    not_granted: report.notGranted.map(keyOf),
    failed: report.failed.map(({ error, ...key }) => ({
      ...keyOf(key),
      status: error.status,
      code: error.code,
      errors: error.errors,
      request_id: error.requestId,
    })),
  }
}

async function compare(
  context: Context,
  client: ReturnType<Context['client']>,
  store: SyncStore,
  selection: Selection,
) {
  const { json, say, write, signal } = context
  const results = await client.verify({ store, signal, ...selection })
  const isWrong = ({ missing, stray, wrong, wrongRows }: Verification) => missing + stray + wrong + wrongRows > 0
  for (const result of json ? results : results.filter(isWrong)) {
    const { locationId, dataset, serverCount, storeCount, serverDigest, storeDigest, wrongRows, ...counts } = result
    if (json) {
      const digests = { server_digest: serverDigest, store_digest: storeDigest }
      const line = {
        location_id: locationId,
        dataset,
        server_count: serverCount,
        store_count: storeCount,
        ...digests,
        ...counts,
        wrong_rows: wrongRows,
      }
      await write(`${JSON.stringify({ verified: line })}\n`)
    } else {
      const { missing, stray, wrong } = counts
      const records = `${missing} records missing, ${wrong} wrong, ${stray} too many`
      say(`Location ${locationId}: ${dataset}: ${records}; ${wrongRows} rows of tables wrong; repaired.`)
    }
  }
  if (!json && results.length > 0 && !results.some(isWrong))
    say(`${results.length} datasets equal the service, record by record.`)
  return exitCodes.done
}
