import { type DatasetName, datasetNames, findDataset, isTimeZone } from '@bridgework/contract'
import { Compile } from 'typebox/compile'
import type { SourceRecord } from '../connector.ts'
import { isObject } from '../files/mapping/mapping-fields.ts'
import { lineOf } from '../pipeline/line.ts'

/** What a program printed, checked as the service would: the hash of each record, by dataset, location and key. */
export type Checked = {
  /** What is wrong, each with the number of its line; a kind of fault is said once with how often it came. */
  readonly faults: readonly string[]
  readonly hashes: ReadonlyMap<string, string>
  /** Records by dataset. */
  readonly counts: ReadonlyMap<DatasetName, number>
}

const checks = new Map(
  datasetNames.flatMap((name) => {
    const source = findDataset(name)?.source
    return source === undefined ? [] : [[name as string, { name, schema: Compile(source) }] as const]
  }),
)

/** Checks lines of JSON: locations, then records, then the complete list of each dataset and location. */
export async function checkLines(lines: AsyncIterable<string>): Promise<Checked> {
  const faults = new Map<string, { line: number; count: number }>()
  const locations = new Set<string>()
  const hashes = new Map<string, string>()
  const counts = new Map<DatasetName, number>()
  const lists = new Map<string, Set<string>>()
  const references: { place: string; dataset: string; key: string; attribute: string; line: number }[] = []
  let number = 0
  const fault = (what: string, line = number) => {
    const seen = faults.get(what)
    if (seen === undefined) faults.set(what, { line, count: 1 })
    else seen.count += 1
  }

  const readLocation = (location: unknown) => {
    if (!isObject(location) || typeof location.source_id !== 'string' || typeof location.name !== 'string')
      return fault('a location needs "source_id" and "name", both texts')
    if (typeof location.time_zone !== 'string' || !isTimeZone(location.time_zone))
      fault('a location needs a "time_zone" like America/Chicago')
    locations.add(location.source_id)
  }

  const readRecord = (dataset: DatasetName, location: string, line: Record<string, unknown>) => {
    const { source_id: key, attributes } = line
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a key has none.
    if (typeof key !== 'string' || key === '' || key.length > 255 || /[\u0000-\u001f\u007f]/.test(key))
      return fault(`${dataset}: "source_id" must be a text of 1 to 255 characters, without control characters`)
    const checked = checks.get(dataset)
    if (checked === undefined || !isObject(attributes)) return fault(`${dataset}: "attributes" must be an object`)
    if (!checked.schema.Check(attributes)) {
      for (const { instancePath, message } of checked.schema.Errors(attributes).slice(0, 3))
        fault(
          `${dataset}: ${instancePath === '' ? 'the attributes' : instancePath.slice(1).replaceAll('/', '.')} ${message}`,
        )
      return
    }
    const place = `${dataset}/${location}`
    const identity = `${place}/${key}`
    if (hashes.has(identity)) fault(`${dataset}: a key came twice at one location`)
    if (lists.has(place)) fault(`${dataset}: a record came after the complete list`)
    const { hash } = lineOf(dataset, { source_id: key, attributes } as SourceRecord)
    hashes.set(identity, hash)
    counts.set(dataset, (counts.get(dataset) ?? 0) + 1)
    // The record was just found to fit the dataset's source.
    for (const rule of findDataset(dataset)?.refersTo ?? [])
      for (const other of rule.keysOf(attributes as never))
        references.push({
          place: location,
          dataset: rule.dataset,
          key: other,
          attribute: `${dataset}.${rule.attribute}`,
          line: number,
        })
  }

  const readLine = (text: string) => {
    let line: unknown
    try {
      line = JSON.parse(text)
    } catch {
      return fault('is not a line of JSON; print anything else to stderr')
    }
    if (!isObject(line)) return fault('must be a JSON object')
    if ('location' in line && isObject(line.location)) return readLocation(line.location)
    const checked = typeof line.dataset === 'string' ? checks.get(line.dataset) : undefined
    if (checked === undefined) return fault(`"dataset" must be one of ${datasetNames.join(', ')}`)
    if (typeof line.location !== 'string' || !locations.has(line.location))
      return fault(`${checked.name}: "location" must be the key of a location that was printed before`)
    if (!('complete' in line)) return readRecord(checked.name, line.location, line)
    if (!Array.isArray(line.complete) || !line.complete.every((key) => typeof key === 'string'))
      return fault(`${checked.name}: "complete" must be a list of keys`)
    lists.set(`${checked.name}/${line.location}`, new Set(line.complete))
  }

  for await (const text of lines) {
    number += 1
    if (text.trim() !== '') readLine(text)
  }
  if (locations.size === 0) fault('no location was printed; begin with {"location": {…}}')
  for (const identity of hashes.keys()) {
    const [dataset = '', location = ''] = identity.split('/', 2)
    const place = `${dataset}/${location}`
    const list = lists.get(place)
    if (list === undefined) fault(`${dataset}: no complete list was printed for a location, so nothing is ever removed`)
    else if (!list.has(identity.slice(place.length + 1)))
      fault(`${dataset}: a record is missing in the complete list, so it would be hidden`)
  }
  for (const [place, list] of lists)
    for (const key of list)
      if (!hashes.has(`${place}/${key}`))
        fault(`${place.split('/')[0]}: the complete list names a key without a record`)
  for (const { place, dataset, key, attribute, line } of references)
    if (!hashes.has(`${dataset}/${place}/${key}`))
      fault(
        `${attribute} names a record of ${dataset} that was not printed for its location, so vendors receive null`,
        line,
      )
  const said = [...faults].map(
    ([what, { line, count }]) => `Line ${line}: ${what}.${count === 1 ? '' : ` The same on ${count - 1} more lines.`}`,
  )
  return { faults: said, hashes, counts }
}
