import { datasetNames } from '@bridgework/contract'
import type { DatasetName } from '../../connector.ts'
import { columnWords, fileWords, locationWords, wordOf } from '../../files/propose/words.ts'
import type { CatalogTable } from './catalog.ts'

export type ChosenTable = { readonly dataset: DatasetName; readonly table: CatalogTable }

const nameScore = 4
const wholeNameScore = 3
const scoreMin = 6
/** A ledger is often in several tables: charges, payments, adjustments. */
const ledgersMax = 5

/** By the names of tables and columns alone: which table each dataset is in. */
export function chooseTables(tables: readonly CatalogTable[]): ChosenTable[] {
  const placed = tables.flatMap((table) => {
    const [best] = datasetNames
      .map((dataset) => ({ dataset, table, score: scoreOf(dataset, table) }))
      .toSorted((one, other) => other.score - one.score)
    return best !== undefined && best.score >= scoreMin ? [best] : []
  })
  return datasetNames.flatMap((name) => {
    const own = placed.filter(({ dataset }) => dataset === name).toSorted((one, other) => other.score - one.score)
    return own.slice(0, name === 'ledger_transactions' ? ledgersMax : 1)
  })
}

/** The table with the practice's locations, where there is one: best the one to which keys of the chosen tables lead. */
export function locationTable(
  tables: readonly CatalogTable[],
  chosen: readonly ChosenTable[],
): CatalogTable | undefined {
  const named = tables.filter(({ name }) => locationWords.includes(singular(name)))
  const led = new Set(chosen.flatMap(({ table }) => table.columns.map(({ references }) => references?.table)))
  return named.find(({ name }) => led.has(name)) ?? named[0]
}

/** What a key of another table is called after: provider of provider_id. */
export function keyStem(name: string): string {
  return name.replace(/_?(id|no|num|nr|code|key)$/i, '')
}

/** The name of a table as the lists of words have it. */
export function singular(name: string): string {
  return wordOf(name)
    .replace(/^(tbl|dbo)/, '')
    .replace(/ies$/, 'y')
    .replace(/s$/, '')
}

function scoreOf(dataset: DatasetName, { name, columns }: CatalogTable): number {
  const words = new Set(columns.flatMap((column) => [wordOf(column.name), wordOf(keyStem(column.name))]))
  const attributes = Object.values(columnWords[dataset]).filter((each) => each.some((word) => words.has(word)))
  const isNamed = fileWords[dataset].some((word) => wordOf(name).includes(word))
  // Nothing is left of it, as of InsurancePlans.
  const isWhole = fileWords[dataset].reduce((rest, word) => rest.replace(word, ''), singular(name)) === ''
  // A name alone is no table of records, and a list of codes has one more column.
  if (attributes.length < Math.min(2, Object.keys(columnWords[dataset]).length)) return 0
  return attributes.length + (isNamed ? nameScore : 0) + (isWhole ? wholeNameScore : 0)
}
