import { access, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ApiError } from '../../api-error.ts'
import type { Bridgework } from '../../bridgework.ts'
import { type DatasetName, datasetNames } from '../../dataset-resource.ts'
import { didYouMean } from '../../did-you-mean.ts'
import { datasets } from '../../generated.ts'
import type { Page } from '../../pages/page.ts'
import { explainTarget } from '../../stores/target-error.ts'
import type { SyncRecord } from '../../sync/store.ts'
import { grantedKeys } from '../../sync/sync.ts'
import { tryLock } from '../../tokens/file-lock.ts'
import { createPrivate } from '../../tokens/private-file.ts'
import type { Command, Context, Options } from '../context.ts'
import { exitCodes } from '../exit-codes.ts'
import { grouped, showProgress } from '../progress.ts'
import { readDataset, selectionOptions } from '../selection.ts'
import { UsageError } from '../usage-error.ts'
import { formatOf, formats, openSink } from './pull-format.ts'
import type { Sink } from './pull-sink.ts'

/** Records of a page: the most that the service gives. */
const pageSize = 5000

export const pull: Command = {
  summary: 'write a dataset to a file or to stdout',
  usage: '<dataset> [--output <file>] [--format ndjson|csv|parquet]',
  details: [
    `Datasets: ${datasetNames.join(', ')}.`,
    'Removed records are included, with is_hidden. A file gets its name when it is complete.',
    'CSV contains text as the practice wrote it. --spreadsheet stops a spreadsheet from reading text as a formula.',
  ],
  options: {
    output: { value: 'file', summary: 'where to; stdout when left out' },
    format: { value: 'format', choices: formats, summary: 'as the file’s name ends, or ndjson, when left out' },
    location: selectionOptions.location,
    since: { value: 'moment', summary: 'only what changed since; a watermark, or 2026-01-31T08:00:00Z' },
    spreadsheet: { summary: 'CSV: put an apostrophe before text that a spreadsheet would read as a formula' },
    fields: { value: 'names', repeatable: true, summary: 'only these attributes, separated by commas' },
    patient: { value: 'id', summary: 'only records of this patient' },
    'starts-from': { value: 'moment', summary: 'appointments: only those that start then or later' },
    'starts-to': { value: 'moment', summary: 'appointments: only those that start before' },
  },
  argsMax: 1,
  async run(context) {
    const { args, options, stdout, json, say, write, signal } = context
    const [name] = args
    if (name === undefined) throw new UsageError(`Missing argument: the dataset. Datasets: ${datasetNames.join(', ')}`)
    const dataset = readDataset(name)
    const output = options.text('output') === '-' ? undefined : options.text('output')
    const format = formatOf(options.text('format'), output)
    const isForSpreadsheet = options.flag('spreadsheet')
    if (isForSpreadsheet && format !== 'csv')
      throw new UsageError('--spreadsheet works with CSV only: add --format csv.')
    const fields = options.list('fields')
    const known = Object.keys(datasets[dataset].attributes)
    const unknown = fields?.find((field) => !known.includes(field))
    if (unknown !== undefined) {
      const meant = didYouMean(unknown, known)
      throw new UsageError(
        `Unknown attribute ${JSON.stringify(unknown)} of ${dataset}.${meant} Attributes: ${known.join(', ')}`,
      )
    }
    refuseFiltersOfOthers(options, dataset)
    const client = context.client()
    const locationIds = options.list('location') ?? (await grantedLocations(client, dataset, signal))
    if (locationIds.length === 0) {
      say(`No location has granted ${dataset} to your company.`)
      return exitCodes.denied
    }
    const beganAt = performance.now()
    const { count, watermark } = await wholeFile(output, async (part) => {
      const sink = await openSink(format, { dataset, fields, isForSpreadsheet }, part, stdout)
      const pulled = await pullAll(context, client, { dataset, locationIds, sink, fields })
      await sink.end()
      return pulled
    }).catch((error: unknown) => {
      throw output === undefined ? inOptions(error) : explainTarget(output, inOptions(error))
    })
    const seconds = (performance.now() - beganAt) / 1000
    // With records on stdout, a summary there would be one of them.
    if (json && output !== undefined)
      await write(`${JSON.stringify({ dataset, records: count, file: output, seconds, watermark })}\n`)
    if (!json) {
      say(`${grouped(count)} records in ${seconds.toFixed(1)} s (${grouped(Math.round(count / seconds))}/s)`)
      if (watermark !== null) say(`To get the changes after this: --since ${watermark}`)
    }
    return exitCodes.done
  },
}

/** Runs `work`, which writes a file of another name (0600); that one gets this name when it is whole, and is removed when it is not. */
async function wholeFile<T>(file: string | undefined, work: (part: string | undefined) => Promise<T>): Promise<T> {
  if (file === undefined) return await work(undefined)
  // A folder that was misspelt is not made.
  const folder = dirname(file)
  await access(folder).catch((error: unknown) => {
    throw explainTarget(folder, error)
  })
  const part = `${file}.part`
  const lock = await tryLock(`${part}.lock`)
  if (!lock) throw new Error(`Another process is writing ${file}.`)
  try {
    // What writes it opens it again, and keeps its mode.
    await (await createPrivate(part)).close()
    const result = await work(part)
    await rename(part, file)
    return result
  } finally {
    await rm(part, { force: true })
    await lock.release()
  }
}

/** Which filter of the API an option is. */
const filterOptions: Record<string, 'patient_id' | 'starts_at'> = {
  patient: 'patient_id',
  'starts-from': 'starts_at',
  'starts-to': 'starts_at',
}

function refuseFiltersOfOthers(options: Options, dataset: DatasetName): void {
  const filters = (name: DatasetName): readonly string[] => datasets[name].filters
  for (const [option, filter] of Object.entries(filterOptions)) {
    if (options.text(option) === undefined || filters(dataset).includes(filter)) continue
    const others = datasetNames.filter((name) => filters(name).includes(filter))
    throw new UsageError(`--${option} does not filter ${dataset}. It filters ${others.join(', ')}.`)
  }
}

/** The service's words for what the options became. */
const inService: readonly (readonly [RegExp, string])[] = [
  [/q\[fetch_modified_since\]/g, '--since'],
  [/q\[patient_id\]/g, '--patient'],
  [/q\[starts_from\]/g, '--starts-from'],
  [/q\[starts_to\]/g, '--starts-to'],
  [/fields\[\w+\]/g, '--fields'],
  [/ Pass back meta\.next_fetch_modified_since.*$/, ' Use the --since that an earlier pull printed.'],
  [/ A "\+" in a query must be written as %2B\./, ''],
  [/%2B/g, '+'],
]

/** A refused parameter is a usage error that names the option. */
function inOptions(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.status !== 422) return error
  return new UsageError(inService.reduce((text, [pattern, option]) => text.replace(pattern, option), error.errors))
}

async function grantedLocations(client: Bridgework, dataset: DatasetName, signal: AbortSignal): Promise<string[]> {
  const keys = await grantedKeys(client.locations, signal)
  return keys.filter((key) => key.dataset === dataset).map(({ locationId }) => locationId)
}

async function* parsed(pages: AsyncIterable<Page<Uint8Array>>): AsyncGenerator<Page<SyncRecord>> {
  for await (const page of pages)
    yield { ...page, records: page.records.map((record) => JSON.parse(Buffer.from(record).toString())) }
}

type Pull = { dataset: DatasetName; locationIds: readonly string[]; sink: Sink; fields: readonly string[] | undefined }

/** Gives how many records were written, and the earliest watermark: nothing that changes afterwards lies before it. */
async function pullAll(
  context: Context,
  client: Bridgework,
  { dataset, locationIds, sink, fields }: Pull,
): Promise<{ count: number; watermark: string | null }> {
  const { options, signal } = context
  const filters = {
    modifiedSince: options.text('since'),
    fields,
    patientId: options.text('patient'),
    startsFrom: options.text('starts-from'),
    startsTo: options.text('starts-to'),
  }
  const setFilters = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
  const progress = showProgress(context)
  const watermarks: string[] = []
  let count = 0
  try {
    for (const locationId of locationIds) {
      const asked = { locationId, pageSize, signal, ...setFilters }
      const resource = client.dataset(dataset)
      let read = 0
      const writePages = async <Item>(
        pages: AsyncIterator<Page<Item>>,
        writeItems: (locationId: string, items: readonly Item[]) => Promise<void>,
      ) => {
        let coming = pages.next()
        for (;;) {
          const { done, value: page } = await coming
          if (done) return
          // The service makes the next page while this one is written.
          coming = pages.next()
          coming.catch(() => {})
          if (page.watermark !== null) watermarks.push(page.watermark)
          await writeItems(locationId, page.records)
          read += page.records.length
          count += page.records.length
          progress.update(locationId, read, page.total)
        }
      }
      const isWhole = Object.keys(setFilters).length === 0
      if (sink.takes === 'bytes') await writePages(isWhole ? resource.export(asked) : resource.bytes(asked), sink.write)
      else if (isWhole) await writePages<SyncRecord>(parsed(resource.export(asked)), sink.write)
      // Every dataset's records have an id, a type and attributes; which ones, does not matter here.
      else await writePages<SyncRecord>(resource.list(asked).pages(), sink.write)
    }
  } finally {
    progress.end()
  }
  // All are UTC with as many digits: the order of the texts is that of the moments.
  return { count, watermark: watermarks.sort()[0] ?? null }
}
