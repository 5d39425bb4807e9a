import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { UnreadableFile } from '../fault.ts'
import { namePattern } from '../mapping/file-names.ts'
import { isObject } from '../mapping/mapping-fields.ts'
import { readCsv } from '../reading/csv.ts'
import { readText } from '../reading/text.ts'
import { aroundWords, knownColumns, wordOf } from './words.ts'

/** The beginning of an export file, as far as it shows how the file is written. */
export type Sample = {
  /** Of the newest file: `name` below the folder, and the pattern that it and the older ones fit. */
  readonly name: string
  readonly pattern: string
  readonly format: 'csv' | 'ndjson'
  readonly delimiter: string
  /** Null: found by the file's mark or content. */
  readonly encoding: string | null
  readonly columns: readonly Column[]
  readonly rows: number
  /** The first words of titles and totals between the rows, as Total. */
  readonly around: readonly string[]
  /** Of a table of a database; null: a file. */
  readonly statement: ProposedStatement | null
}

/** What gives a table's rows. */
export type ProposedStatement = {
  /** The SELECT of some of the sample's columns. */
  readonly selectOf: (columns: readonly string[]) => string
  /** The primary key; empty: none is declared. */
  readonly key: readonly string[]
  readonly changed: {
    readonly rule: { readonly column: string; readonly kind: string }
    readonly question: string | null
  } | null
  /** The column that may say that a row does not count. */
  readonly deleted: string | null
}

export type Column = { readonly name: string /** The texts that are not empty. */; readonly texts: readonly string[] }

const charactersMax = 512 * 1024
const rowsMax = 2000
const delimiters = [',', ';', '\t', '|'] as const

/** The samples of a folder's files, the names of files in which no table was found, and those that cannot be read with the system's error code. */
export async function readSamples(folder: string) {
  const samples: Sample[] = []
  const unknown: string[] = []
  const unreadable: { name: string; code: string }[] = []
  for (const [pattern, name] of newestNames(folder)) {
    try {
      const sample = await readSample(join(folder, name), name, pattern)
      if (sample === null) unknown.push(name)
      else samples.push(sample)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
      unreadable.push({ name, code: String(error.code) })
    }
  }
  return { samples, unknown, unreadable }
}

/** Of files whose names differ only by a date the newest, by the pattern of its name. */
function newestNames(folder: string): Map<string, string> {
  const names = readdirSync(folder)
    .filter(
      (name) =>
        /\.(csv|txt|tsv|tab|ndjson|jsonl)$/i.test(name) &&
        statSync(join(folder, name), { throwIfNoEntry: false })?.isFile(),
    )
    .toSorted()
  const newest = new Map<string, string>()
  for (const name of names) {
    const dated = name
      .replace(/(?<!\d)(19|20)\d{2}(0[1-9]|1[0-2])([0-2]\d|3[01])(?!\d)/, '{YYYYMMDD}')
      .replace(/(?<!\d)(19|20)\d{2}-(0[1-9]|1[0-2])-([0-2]\d|3[01])(?!\d)/, '{YYYY-MM-DD}')
    const pattern = namePattern(dated)
    const last = pattern !== null && 'matching' in pattern ? pattern.matching(names).at(-1) : undefined
    newest.set(last === undefined ? name : dated, last ?? name)
  }
  return newest
}

async function readSample(path: string, name: string, pattern: string): Promise<Sample | null> {
  const { text, encoding } = await beginningOf(path, name)
  const base = { name, pattern, encoding }
  if (/\.(ndjson|jsonl)$/i.test(name)) return ndjsonSample(text, base)
  const tables = await Promise.all(delimiters.map(async (delimiter) => tableOf(text, delimiter)))
  const [best] = tables
    .filter((table) => table !== null)
    .toSorted((one, other) => other.share - one.share || other.columns.length - one.columns.length)
  if (best === undefined) return null
  return {
    ...base,
    format: 'csv',
    delimiter: best.delimiter,
    columns: best.columns,
    rows: best.rows,
    around: best.around,
    statement: null,
  }
}

/** A text that is not UTF-8 is taken for windows-1252: in it every byte is a letter, so a person must look. */
async function beginningOf(path: string, name: string): Promise<{ text: string; encoding: string | null }> {
  for (const encoding of [null, 'windows-1252']) {
    try {
      let text = ''
      for await (const part of readText(path, name, encoding)) {
        text += part
        if (text.length > charactersMax) break
      }
      // The last line may be cut.
      return { text: text.length > charactersMax ? text.slice(0, text.lastIndexOf('\n') + 1) : text, encoding }
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw error
    }
  }
  return { text: '', encoding: null }
}

/** A table of at least two columns, below its header; `share`: how many of the rows are as wide as it. */
async function tableOf(text: string, delimiter: string) {
  const rows: (readonly string[])[] = []
  const parts = async function* () {
    yield text
  }
  for await (const row of readCsv(parts(), { delimiter, quotes: 'standard' })) {
    if ('fields' in row && row.fields.some((field) => field.trim() !== '')) rows.push(row.fields)
    if (rows.length === rowsMax) break
  }
  const at = rows.findIndex((row, index) => isHeader(row) && hasWidth(rows[index + 1], filledWidth(row)))
  const header = rows[at]?.slice(0, filledWidth(rows[at] ?? []))
  if (header === undefined) return null
  const below = rows.slice(at + 1).filter((row) => !header.every((name, index) => row[index]?.trim() === name.trim()))
  const isAround = (row: readonly string[]) =>
    header.length > 2 && row.filter((field) => field.trim() !== '').length === 1 && firstWord(row) !== null
  const table = below.filter((row) => hasWidth(row, header.length) && !isAround(row))
  const firstWords = new Set(below.filter(isAround).map((row) => firstWord(row) ?? ''))
  // Another word may be a patient's name, as in a list by patients.
  const around = [...firstWords].filter((word) => aroundWords.includes(wordOf(word))).slice(0, aroundMax)
  const columns = header.map((name, index): Column => {
    const texts = table.map((row) => (row[index] ?? '').trim()).filter((each) => each !== '')
    return { name: name.trim(), texts }
  })
  const share = table.length / (below.filter((row) => !isAround(row)).length || 1)
  return { delimiter, columns, rows: table.length, around, share }
}

const aroundMax = 5
const knownMin = 2

/** The word of letters with which a row's only text begins; null: it begins with another character. */
function firstWord(row: readonly string[]): string | null {
  return /^\p{L}+/u.exec(row.find((field) => field.trim() !== '')?.trim() ?? '')?.[0] ?? null
}

function filledWidth(row: readonly string[]): number {
  return row.findLastIndex((field) => field.trim() !== '') + 1
}

function hasWidth(row: readonly string[] | undefined, width: number): boolean {
  return row !== undefined && row.length >= width && row.slice(width).every((field) => field.trim() === '')
}

/**
 * Names of columns: several, all different, without numbers and dates, and some are known. A file without a header begins with a record, whose values
 * must not be taken for names.
 */
function isHeader(row: readonly string[]): boolean {
  const names = row.slice(0, filledWidth(row)).map((field) => field.trim())
  return (
    names.length > 1 &&
    new Set(names).size === names.length &&
    names.every((name) => /\p{L}/u.test(name) && !/\d{4}/.test(name)) &&
    names.filter((name) => knownColumns.has(wordOf(name))).length >= knownMin
  )
}

function ndjsonSample(text: string, base: Pick<Sample, 'name' | 'pattern' | 'encoding'>): Sample | null {
  const texts = new Map<string, string[]>()
  let rows = 0
  const add = (value: unknown, path: string) => {
    if (isObject(value))
      for (const [name, inner] of Object.entries(value)) add(inner, path === '' ? name : `${path}.${name}`)
    else if (!Array.isArray(value)) {
      const known = texts.get(path) ?? []
      texts.set(path, known)
      if (value !== null && value !== '') known.push(String(value))
    }
  }
  for (const line of text.split('\n').slice(0, rowsMax)) {
    try {
      const value: unknown = JSON.parse(line)
      if (isObject(value)) add(value, '')
      rows += 1
    } catch {
      // `check` names the lines that cannot be read.
    }
  }
  const columns = [...texts].map(([name, each]) => ({ name, texts: each }))
  return columns.length === 0
    ? null
    : { ...base, format: 'ndjson', delimiter: ',', columns, rows, around: [], statement: null }
}
