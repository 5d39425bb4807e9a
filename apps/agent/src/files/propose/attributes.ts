import { findDataset } from '@bridgework/contract'
import type { DatasetName } from '../../connector.ts'
import { type Kind, kindsOf } from '../mapping/schema-kind.ts'
import { longestVisitMin } from '../profile.ts'
import { amountWriting, dateWriting, numberWriting, timeFormat, type Writing } from './content.ts'
import type { Column, Sample } from './sample.ts'
import { codeWords, columnWords, creditWords, dayWords, debitWords, fullNameWords, timeWords, wordOf } from './words.ts'

/** Where an attribute probably comes from. `rule`: as in a mapping. `texts`: samples of its column, to show on a terminal. */
export type Guess = {
  readonly attribute: string
  readonly rule: string | Readonly<Record<string, unknown>>
  readonly question: string | null
  readonly columns: readonly string[]
  readonly texts: readonly string[]
}

const shownMax = 3
const codesMax = 20
const codeLengthMax = 30
/** A column of names is "Last, First" when at least this share of its texts has a comma. */
const commaShareMin = 0.8

/** The attributes of a dataset that a file has, by the names of its columns and by what is in them. */
export function guessAttributes(dataset: DatasetName, { columns }: Sample): Guess[] {
  const source = findDataset(dataset)?.source
  const kinds = source ? kindsOf(source) : new Map<string, Kind>()
  const left = new Map(columns.map((column) => [wordOf(column.name), column]))
  const take = (words: readonly string[]) => {
    const word = words.find((each) => left.has(each))
    return word === undefined ? undefined : left.get(word)
  }
  const guesses: Guess[] = []
  const add = (attribute: string, used: readonly Column[], writing: Writing) => {
    const columns = used.map(({ name }) => name)
    const rule = {
      ...(columns.length > 0 && !('debit' in writing.rule) && { column: columns.length === 1 ? columns[0] : columns }),
      ...writing.rule,
    }
    const isPlain = Object.keys(rule).length === 1 && typeof rule.column === 'string'
    const texts = used.length === 1 ? (used[0]?.texts ?? []).slice(0, shownMax) : []
    guesses.push({
      attribute,
      rule: isPlain ? (rule.column as string) : rule,
      question: writing.question,
      columns,
      texts,
    })
    for (const column of used) left.delete(wordOf(column.name))
  }

  if (dataset === 'patients') addFullName(take, add, left)
  if (dataset === 'appointments') addDayAndTime(take, add)
  if (dataset === 'ledger_transactions') addDebitAndCredit(take, add)
  for (const [attribute, words] of Object.entries(columnWords[dataset])) {
    if (guesses.some((guess) => guess.attribute === attribute)) continue
    const column = take(words)
    const kind = kindAt(kinds, attribute)
    if (column === undefined || kind === undefined) continue
    const writing = writingOf(`${dataset}.${attribute}`, kind, column)
    if (writing === null) continue
    add(attribute, [column], writing)
    if (attribute === 'starts_at') add('local_starts_at', [column], { ...writing, question: null })
    if (kinds.has(`${attribute}_raw`)) add(`${attribute}_raw`, [column], { rule: {}, question: null })
  }
  return guesses
}

type Take = (words: readonly string[]) => Column | undefined
type Add = (attribute: string, used: readonly Column[], writing: Writing) => void

/** "Last, First" in one column. */
function addFullName(take: Take, add: Add, left: ReadonlyMap<string, Column>): void {
  const column = take(fullNameWords)
  if (column === undefined || columnWords.patients.first_name?.some((word) => left.has(word))) return
  const withComma = column.texts.filter((text) => text.includes(','))
  if (withComma.length === 0 || withComma.length < column.texts.length * commaShareMin) return
  add('last_name', [column], { rule: { split: ',', part: 1 }, question: null })
  add('first_name', [column], { rule: { split: ',', part: 2 }, question: null })
}

function addDayAndTime(take: Take, add: Add): void {
  const [day, time] = [take(dayWords), take(timeWords)]
  if (day === undefined || time === undefined || day.texts.some((text) => text.includes(':'))) return
  const written = dateWriting(day.texts, false)
  const format = timeFormat(time.texts)
  if (written === null || format === null) return
  const rule = { ...written.rule, format: `${written.rule.format ?? 'YYYY-MM-DD'} ${format}` }
  add('starts_at', [day, time], { rule, question: written.question })
  add('local_starts_at', [day, time], { rule, question: null })
}

function addDebitAndCredit(take: Take, add: Add): void {
  const [debit, credit] = [take(debitWords), take(creditWords)]
  if (debit === undefined || credit === undefined) return
  const writing = amountWriting([...debit.texts, ...credit.texts])
  if (writing === null) return
  add('amount', [debit, credit], { ...writing, rule: { debit: debit.name, credit: credit.name, ...writing.rule } })
}

function kindAt(kinds: ReadonlyMap<string, Kind>, attribute: string): Kind | undefined {
  const [name = '', member] = attribute.split('.')
  const kind = kinds.get(name)
  if (member === undefined) return kind
  return kind?.kind === 'object' ? kind.members.get(member) : undefined
}

function writingOf(attribute: string, kind: Kind, { texts }: Column): Writing | null {
  switch (kind.kind) {
    case 'date':
      return dateWriting(texts, false)
    case 'instant':
    case 'wall_time':
      return dateWriting(texts, true)
    case 'money':
      return amountWriting(texts)
    case 'integer':
      return numberWriting(texts, attribute.endsWith('duration_minutes') ? longestVisitMin : 0)
    case 'enum':
      return codes(attribute, kind, texts)
    case 'list':
      return { rule: texts.some((text) => text.includes(';')) ? { separator: ';' } : {}, question: null }
    case 'boolean':
    case 'object':
    case 'objects':
      return null
    case 'text':
      return { rule: attribute.endsWith('_source_id') && texts.includes('0') ? { empty: ['0'] } : {}, question: null }
  }
}

/** The value of each known code of a column, and a question about the others. */
function codes(attribute: string, kind: Kind & { kind: 'enum' }, texts: readonly string[]): Writing | null {
  const known = Object.entries(codeWords[attribute] ?? {})
  const found = [...new Set(texts)]
  if (found.length > codesMax || found.some((text) => text.length > codeLengthMax)) return null
  const values: Record<string, string> = {}
  const unknown: string[] = []
  for (const text of found) {
    const value = known.find(([, words]) => words.includes(wordOf(text)))?.[0]
    if (value !== undefined) values[text] = value
    else unknown.push(text)
  }
  const other = ['unknown', 'other'].find((value) => kind.values.includes(value))
  const otherwise = other ?? known[0]?.[0]
  const question =
    unknown.length === 0
      ? null
      : `What does ${unknown.map((text) => JSON.stringify(text)).join(', ')} mean? One of ${kind.values.join(', ')}.`
  const isComplete = unknown.length === 0 && other === undefined
  return { rule: { values, ...(!isComplete && otherwise !== undefined && { otherwise }) }, question }
}
