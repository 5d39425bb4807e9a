import { type Proposal, propose } from '../../files/propose/propose.ts'
import { locationWords, wordOf } from '../../files/propose/words.ts'
import type { SqlSession } from '../session.ts'
import type { SqlSettings } from '../settings.ts'
import { openReader } from '../source.ts'
import { type CatalogTable, readCatalog } from './catalog.ts'
import { chooseTables, locationTable } from './choose.ts'
import { sampleTable } from './samples.ts'

/** Proposes a mapping of a database: which table each dataset is in, by names, and what its columns mean, by a few hundred rows of it. */
export async function proposeOfDatabase(settings: SqlSettings): Promise<Proposal> {
  const session = await openReader(settings)
  try {
    const tables = await readCatalog(session, settings.engine)
    const chosen = chooseTables(tables)
    const datasets = new Map(chosen.map(({ table, dataset }) => [table.name, dataset]))
    const others = tables.filter(({ name }) => !datasets.has(name))
    const samples = []
    for (const each of chosen) samples.push(await sampleTable(session, each, others))
    const proposal = propose(samples, ({ name }) => datasets.get(name) ?? null)
    const locationNames = await namesOfLocations(session, locationTable(tables, chosen))
    const isLocated = proposal.files.some(({ locationColumn }) => locationColumn !== null)
    return locationNames.size > 1 && isLocated
      ? { ...proposal, locations: [...locationNames.keys()], locationNames }
      : proposal
  } finally {
    await session.end()
  }
}

const locationsMax = 20

async function namesOfLocations(session: SqlSession, table: CatalogTable | undefined): Promise<Map<string, string>> {
  const key = table?.columns.find(({ isKey, name }) => isKey || [...locationWords, 'id'].includes(wordOf(name)))
  const name = table?.columns.find((column) => /name$/.test(wordOf(column.name)))
  if (table === undefined || key === undefined || name === undefined) return new Map()
  const at = [table.schema, table.name].flatMap((each) => (each === null ? [] : [session.quoted(each)])).join('.')
  const select = `select ${session.quoted(key.name)}, ${session.quoted(name.name)} from ${at}`
  const names = new Map<string, string>()
  for await (const { rows } of session.read({ select, table: table.name, rowsMax: locationsMax + 1 })) {
    for (const [id, text] of rows) if (id != null && text != null) names.set(id, text.trim())
    break
  }
  return names.size > locationsMax ? new Map() : names
}
