import { datasetNames, getDataset } from '@bridgework/contract'

/** Ids of numbers have 15 digits, others are UUIDs; people see names. */
export function withoutIds(text: string): string {
  return text.replaceAll(/ \((?:\d{15}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\)/g, '')
}

/** With the titles of datasets in the place of their names. */
export function withTitles(text: string): string {
  return text.replaceAll(anyDataset, (name) => titles.get(name) ?? name)
}

/** As the middle of a sentence: `insurance plans`, from a dataset's name or its title. */
export function inLine(dataset: string): string {
  return withTitles(dataset).toLowerCase()
}

/** The first release wrote ids of locations. */
export function placesOf(where: string): string {
  return where.startsWith('locations ') ? locations(where.split(',').length) : where
}

function locations(count: number): string {
  return count === 1 ? '1 location' : `${count} locations`
}

/** `1 record`, `3 records`. */
export function records(count: string): string {
  return count === '1' ? '1 record' : `${count} records`
}

/** The end of a sentence where another person decided than the one who acted. */
export function decided(by: string | undefined): string {
  return by === undefined ? '' : `, as ${by} decided`
}

/** With a capital at the beginning. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const titles = new Map<string, string>(datasetNames.map((name) => [name, getDataset(name).title]))
const anyDataset = new RegExp(`\\b(?:${datasetNames.join('|')})\\b`, 'g')
