import type { Column, Sample } from '../../files/propose/sample.ts'
import { wordOf } from '../../files/propose/words.ts'
import type { SqlSession } from '../session.ts'
import type { CatalogColumn, CatalogTable } from './catalog.ts'
import { type ChosenTable, keyStem, singular } from './choose.ts'

const rowsMax = 500
const textMax = 200
const bytes = /blob|bytea|binary|image|xml|json|geo|varying bit|oid/i

const nameWords = ['name', 'fullname', 'displayname', 'providername', 'description', 'title', 'bezeichnung', 'abbr']
const firstNames = ['firstname', 'first', 'fname', 'vorname']
const lastNames = ['lastname', 'last', 'lname', 'nachname', 'surname']

/** A column of another table, under the name of the key that leads to it. */
type Joined = { readonly name: string; readonly expression: string; readonly join: string }

/** The newest rows of a table, as far as they show how it is written, with the names that its keys lead to. */
export async function sampleTable(
  session: SqlSession,
  { table }: ChosenTable,
  others: readonly CatalogTable[],
): Promise<Sample> {
  const columns = table.columns.filter(({ type }) => !bytes.test(type))
  const joined = joinedColumns(session, columns, others)
  const selectOf = (names: readonly string[]) => selectText(session, { table, columns, joined, names })
  const all = [...columns, ...joined].map(({ name }) => name)
  const [key, ...more] = columns.filter(({ isKey }) => isKey)
  const order = key === undefined || more.length > 0 ? [] : [`${session.quoted(key.name)} desc`]
  const texts = new Map(all.map((name): [string, string[]] => [name, []]))
  let rows = 0
  for await (const chunk of session.read({ select: selectOf(all), table: table.name, order, rowsMax })) {
    for (const row of chunk.rows) {
      rows += 1
      for (const [index, name] of all.entries()) {
        const text = row[index]?.trim() ?? ''
        if (text !== '') texts.get(name)?.push(text.slice(0, textMax))
      }
    }
    break
  }
  return {
    name: table.name,
    pattern: table.name,
    format: 'csv',
    delimiter: ',',
    encoding: null,
    columns: [...texts].map(([name, each]): Column => ({ name, texts: each })),
    rows,
    around: [],
    statement: {
      selectOf,
      key: columns.filter(({ isKey }) => isKey).map(({ name }) => name),
      changed: changedOf(columns, texts),
      deleted: columns.find(({ name }) => deletedWords.includes(wordOf(name)))?.name ?? null,
    },
  }
}

function selectText(
  session: SqlSession,
  of: {
    table: CatalogTable
    columns: readonly CatalogColumn[]
    joined: readonly Joined[]
    names: readonly string[]
  },
): string {
  const { table, columns, names } = of
  const joined = of.joined.filter(({ name }) => names.includes(name))
  const own = columns.filter(({ name }) => names.includes(name)).map(({ name }) => `t.${session.quoted(name)}`)
  const list = [...own, ...joined.map(({ name, expression }) => `${expression} as ${session.quoted(name)}`)]
  return `select ${list.join(', ')} from ${nameOf(session, table)} t${joined.map(({ join }) => ` ${join}`).join('')}`
}

function nameOf(session: SqlSession, { schema, name }: CatalogTable): string {
  return schema === null ? session.quoted(name) : `${session.quoted(schema)}.${session.quoted(name)}`
}

/** For each key of a table with names: its name, as of the provider of a visit. */
function joinedColumns(
  session: SqlSession,
  columns: readonly CatalogColumn[],
  others: readonly CatalogTable[],
): Joined[] {
  const taken = new Set(columns.map(({ name }) => wordOf(name)))
  return columns.flatMap((column): Joined[] => {
    const stem = keyStem(column.name)
    if (stem === column.name || stem === '' || taken.has(wordOf(stem))) return []
    const other = others.find(({ name }) =>
      column.references === null ? singular(name) === wordOf(stem) : name === column.references.table,
    )
    // Where no key is declared, the name tells.
    const keyWords = [wordOf(column.name), 'id']
    const key =
      column.references?.column ??
      other?.columns.find(({ isKey }) => isKey)?.name ??
      other?.columns.find(({ name }) => keyWords.includes(wordOf(name)))?.name
    if (other === undefined || key === undefined) return []
    const alias = session.quoted(`${wordOf(stem)}_`)
    const expression = nameExpression(session, other, alias)
    if (expression === null) return []
    const at = `${alias}.${session.quoted(key)} = t.${session.quoted(column.name)}`
    return [{ name: stem, expression, join: `left join ${nameOf(session, other)} ${alias} on ${at}` }]
  })
}

/** What a row of the table is called: its name, or the first and the last name of a person. */
function nameExpression(session: SqlSession, { columns }: CatalogTable, alias: string): string | null {
  const find = (words: readonly string[]) => {
    const word = words.find((each) => columns.some(({ name }) => wordOf(name) === each))
    const column = columns.find(({ name }) => wordOf(name) === word)
    return column === undefined ? null : `${alias}.${session.quoted(column.name)}`
  }
  const name = find(nameWords)
  const [first, last] = [find(firstNames), find(lastNames)]
  if (first === null || last === null) return name ?? last
  return session.joined(first, last)
}

const versionWords = ['rowversion', 'version', 'rowver', 'syncversion', 'changenumber']
const changedWords = [
  ...['changedat', 'modifiedat', 'updatedat', 'lastmodified', 'lastchanged', 'lastupdated', 'modified', 'updated'],
  ...['lastupdate', 'lastchange', 'changed', 'datemodified', 'dateupdated', 'modifydate', 'updatedate', 'datetstamp'],
  ...['modifiedon', 'updatedon', 'changedon', 'timestamp', 'tstamp', 'sectdatetedit', 'geaendertam', 'aenderungsdatum'],
]
const deletedWords = ['deleted', 'isdeleted', 'deletedat', 'void', 'voided', 'isvoid', 'geloescht']

/** The column that seems to grow with each change. Only a type that the database itself sets is certain. */
function changedOf(columns: readonly CatalogColumn[], texts: ReadonlyMap<string, readonly string[]>) {
  const isTime = ({ name, type }: CatalogColumn) =>
    /time/i.test(type) || texts.get(name)?.every((text) => /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d/.test(text)) === true
  const own = columns.find(
    ({ name, type }) => /^rowversion/i.test(type) || (/^timestamp$/i.test(type) && hasVersions(texts.get(name))),
  )
  if (own !== undefined) return { rule: { column: own.name, kind: 'row_version' }, question: null }
  const stamp = columns.find(({ type }) => /on update current_timestamp/i.test(type))
  if (stamp !== undefined)
    return {
      rule: { column: stamp.name, kind: /^timestamp/i.test(stamp.type) ? 'utc_time' : 'local_time' },
      question: null,
    }
  const version = columns.find(({ name, type }) => versionWords.includes(wordOf(name)) && /int|num|dec/i.test(type))
  if (version !== undefined)
    return {
      rule: { column: version.name, kind: 'row_version' },
      question: 'Does this number grow over the whole table with every change? Otherwise leave "changed" out.',
    }
  const word = changedWords.find((each) => columns.some((column) => wordOf(column.name) === each && isTime(column)))
  const time = columns.find(({ name }) => wordOf(name) === word)
  if (time === undefined) return null
  const isUtc =
    /with time zone|timestamptz|datetimeoffset/i.test(time.type) ||
    texts.get(time.name)?.some((text) => text.endsWith('Z'))
  return {
    rule: { column: time.name, kind: isUtc ? 'utc_time' : 'local_time' },
    question: `Does every change of a row set this column${isUtc ? '' : ', and is it in local time (otherwise "utc_time")'}? If only new rows do, leave "changed" out.`,
  }
}

function hasVersions(texts: readonly string[] | undefined): boolean {
  return texts?.every((text) => text.startsWith('0x')) === true
}
