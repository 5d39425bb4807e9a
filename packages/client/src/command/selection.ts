import { type DatasetName, datasetNames } from '../dataset-resource.ts'
import { didYouMean } from '../did-you-mean.ts'
import type { Option, Options } from './context.ts'
import { UsageError } from './usage-error.ts'

/** Options of every command that works on some locations and datasets. */
export const selectionOptions = {
  location: { value: 'id', repeatable: true, summary: 'only this location; may be repeated' },
  dataset: { value: 'name', repeatable: true, choices: datasetNames, summary: 'only this dataset; may be repeated' },
} as const satisfies Record<string, Option>

/** The locations and datasets that were named; none means all. */
export function readSelection(options: Options): { locations?: string[]; datasets?: DatasetName[] } {
  const locations = options.list('location')
  const datasets = options.list('dataset')?.map(readDataset)
  for (const id of locations ?? []) {
    if (!/^[1-9]\d*$/.test(id))
      throw new UsageError(`${JSON.stringify(id)} is not a location id. Run "bridgework locations" to see the ids.`)
  }
  return { ...(locations && { locations }), ...(datasets && { datasets }) }
}

export function readDataset(name: string): DatasetName {
  const found = datasetNames.find((dataset) => dataset === name.replaceAll('-', '_'))
  if (!found) {
    const meant = didYouMean(name, datasetNames)
    throw new UsageError(`Unknown dataset ${JSON.stringify(name)}.${meant} Datasets: ${datasetNames.join(', ')}`)
  }
  return found
}

/** `30s`, `5m`, `1h`, in milliseconds. */
export function readPeriod(text: string, secondsMin: number): number {
  const [, number, unit] = /^(\d{1,6})(s|m|h)$/.exec(text) ?? []
  const ms = Number(number) * ({ s: 1_000, m: 60_000, h: 3_600_000 }[unit ?? ''] ?? Number.NaN)
  if (!(ms >= secondsMin * 1000)) {
    throw new UsageError(
      `${JSON.stringify(text)} is not a period. Write it like 30s, 5m or 1h; the shortest is ${secondsMin}s.`,
    )
  }
  return ms
}
