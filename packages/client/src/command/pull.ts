import { rename, rm } from 'node:fs/promises'
import { datasetNames } from '../dataset-resource.ts'
import type { Page } from '../page.ts'
import type { SyncRecord } from '../sync/store.ts'
import { grantedKeys } from '../sync/sync.ts'
import type { Command, Context } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import { grouped, showProgress } from './progress.ts'
import { columnsFor, formatOf, formats, openSink, type Sink } from './pull-format.ts'
import { readDataset, selectionOptions } from './selection.ts'
import { UsageError } from './usage-error.ts'

/** Records of a page: the most that the service gives. */
const pageSize = 5000

export const pull: Command = {
  summary: 'write a dataset to a file or to stdout',
  usage: '<dataset> [--output <file>] [--format ndjson|csv|parquet]',
  details: [
    `Datasets: ${datasetNames.join(', ')}.`,
    'Removed records are among them, with is_hidden. A file has its name only when it is whole.',
  ],
  options: {
    output: { value: 'file', summary: 'where to; stdout when left out' },
    format: { value: 'format', choices: formats, summary: 'as the file’s name ends, or ndjson, when left out' },
    location: selectionOptions.location,
    since: { value: 'moment', summary: 'only what changed since; a watermark, or 2026-01-31T08:00:00Z' },
    fields: { value: 'names', repeatable: true, summary: 'only these attributes, separated by commas' },
    patient: { value: 'id', summary: 'only records of this patient' },
    'starts-from': { value: 'moment', summary: 'appointments: only those that start then or later' },
    'starts-to': { value: 'moment', summary: 'appointments: only those that start before' },
  },
  argsMax: 1,
  async run(context) {
    const { args, given, stdout, json, say, write } = context
    const [name] = args
    if (name === undefined) throw new UsageError(`Name a dataset: ${datasetNames.join(', ')}`)
    const dataset = readDataset(name)
    const output = given.text('output') === '-' ? undefined : given.text('output')
    const format = formatOf(given.text('format'), output)
    const fields = given.list('fields')
    const columns = columnsFor(dataset, fields)
    const unknown = fields?.find((field) => !columns.some(([column]) => column === field))
    if (unknown !== undefined) {
      const known = columnsFor(dataset, undefined).map(([column]) => column)
      throw new UsageError(`${dataset} has no attribute ${JSON.stringify(unknown)}. It has: ${known.join(', ')}`)
    }
    const part = output === undefined ? undefined : `${output}.part`
    const beganAt = performance.now()
    let count: number
    try {
      const sink = await openSink(format, columns, part, stdout)
      count = await pullAll(context, dataset, sink, fields)
      await sink.end()
      if (part !== undefined && output !== undefined) await rename(part, output)
    } catch (error) {
      if (part !== undefined) await rm(part, { force: true })
      throw error
    }
    const seconds = (performance.now() - beganAt) / 1000
    // With records on stdout, a summary there would be one of them.
    if (json && output !== undefined)
      await write(`${JSON.stringify({ dataset, records: count, file: output, seconds })}\n`)
    if (!json) say(`${grouped(count)} records in ${seconds.toFixed(1)} s (${grouped(Math.round(count / seconds))}/s)`)
    return exitCodes.done
  },
}

async function pullAll(
  context: Context,
  dataset: ReturnType<typeof readDataset>,
  sink: Sink,
  fields: readonly string[] | undefined,
): Promise<number> {
  const { given, signal } = context
  const client = context.client()
  const optional = {
    modifiedSince: given.text('since'),
    fields,
    patientId: given.text('patient'),
    startsFrom: given.text('starts-from'),
    startsTo: given.text('starts-to'),
  }
  const options = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined))
  const locationIds =
    given.list('location') ??
    (await grantedKeys(client.locations, signal)).filter((key) => key.dataset === dataset).map((key) => key.locationId)
  if (locationIds.length === 0) context.say(`No location has granted ${dataset} to this key pair.`)
  const progress = showProgress(context)
  let count = 0
  try {
    for (const locationId of locationIds) {
      const asked = { locationId, pageSize, signal, ...options }
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
          await writeItems(locationId, page.records)
          read += page.records.length
          count += page.records.length
          progress.update(locationId, read, page.total)
        }
      }
      if (sink.takes === 'bytes') await writePages(resource.bytes(asked), sink.write)
      // Every dataset's records have an id, a type and attributes; which ones, does not matter here.
      else await writePages<SyncRecord>(resource.list(asked).pages(), sink.write)
    }
  } finally {
    progress.end()
  }
  return count
}
