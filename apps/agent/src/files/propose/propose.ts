import { datasetNames } from '@bridgework/contract'
import type { DatasetName } from '../../connector.ts'
import { type Guess, guessAttributes } from './attributes.ts'
import type { Column, Sample } from './sample.ts'
import { distinctNames, fileWords, keyWords, locationWords, wordOf } from './words.ts'

/** One file, and the dataset that it seems to hold. */
export type ProposedFile = {
  readonly sample: Sample
  readonly dataset: DatasetName
  readonly key: string
  readonly keyQuestion: string | null
  /** A letter before the keys, where a dataset has several files. */
  readonly keyConstant: string | null
  readonly locationColumn: string | null
  readonly guesses: readonly Guess[]
  readonly unused: readonly string[]
}

/** A short list of codes that a column of another file has. */
export type ProposedLookup = {
  readonly name: string
  readonly sample: Sample
  readonly key: string
  readonly value: string
}

export type Proposal = {
  readonly files: readonly ProposedFile[]
  /** Files whose dataset is not known. */
  readonly unplaced: readonly string[]
  readonly lookups: readonly ProposedLookup[]
  /** The names of the locations in the files; empty: there is one location. */
  readonly locations: readonly string[]
  /** What a database calls them, where the rows have their keys. */
  readonly locationNames: ReadonlyMap<string, string>
  readonly nullWords: readonly string[]
}

const fileNameScore = 4
const scoreMin = 3
const locationsMax = 20
const wordsForNothing = ['NULL', '(null)', '\\N', 'N/A', '#N/A', 'n/a']

/** Guesses which dataset each file holds, its key and its columns. Reads nothing but the samples. */
export function propose(read: readonly Sample[], datasetOf = datasetOfSample): Proposal {
  const nullWords = wordsForNothing.filter((word) =>
    read.some(({ columns }) => columns.some(({ texts }) => texts.includes(word))),
  )
  const samples = read.map((sample) => without(sample, nullWords))
  const named = samples.flatMap(({ columns }) => columns.filter(isLocationColumn))
  const locations = [...new Set(named.flatMap(({ texts }) => texts))].toSorted()
  const placed = samples.flatMap((sample) => {
    const dataset = datasetOf(sample)
    return dataset === null ? [] : [{ sample, dataset }]
  })
  const files = datasetNames.flatMap((name) => {
    const own = placed.filter(({ dataset }) => dataset === name)
    const letters = new Set<string>()
    return own.flatMap(({ sample }) => {
      const letter = own.length > 1 && name === 'ledger_transactions' ? unusedLetter(sample.name, letters) : null
      const file = proposeFile(name, sample, letter)
      return file === null ? [] : [file]
    })
  })
  const taken = new Set(files.map(({ sample }) => sample.name))
  const lists = lookupsOf(samples.filter(({ name }) => !taken.has(name)))
  const coded = files.map((file) => ({
    ...file,
    guesses: file.guesses.map((guess) => withLookup(guess, file.sample, lists)),
  }))
  const lookups = lists.filter(({ name }) => coded.some(({ guesses }) => guesses.some((guess) => isBy(guess, name))))
  const used = new Set([...taken, ...lookups.map(({ sample }) => sample.name)])
  return {
    files: coded,
    lookups,
    unplaced: samples.flatMap(({ name }) => (used.has(name) ? [] : [name])),
    locations: locations.length > 1 && locations.length <= locationsMax ? locations : [],
    nullWords,
    locationNames: new Map(),
  }
}

function without(sample: Sample, words: readonly string[]): Sample {
  const columns = sample.columns.map(({ name, texts }) => ({
    name,
    texts: texts.filter((text) => !words.includes(text)),
  }))
  return { ...sample, columns }
}

function isLocationColumn({ name, texts }: Column): boolean {
  const distinct = new Set(texts).size
  return locationWords.includes(wordOf(name)) && distinct > 0 && distinct <= locationsMax
}

function datasetOfSample(sample: Sample): DatasetName | null {
  const file = wordOf(sample.name)
  const [best] = datasetNames
    .map((dataset) => {
      const isNamed = fileWords[dataset].some((word) => file.includes(word))
      const attributes = new Set(guessAttributes(dataset, sample).flatMap(({ columns }) => columns))
      return { dataset, score: attributes.size + (isNamed ? fileNameScore : 0) }
    })
    .toSorted((one, other) => other.score - one.score)
  return best !== undefined && best.score >= scoreMin ? best.dataset : null
}

const codesMax = 500

/** Files with two columns, and each code once. */
function lookupsOf(samples: readonly Sample[]): ProposedLookup[] {
  const lists = samples.flatMap((sample) => {
    const [key, value] = sample.columns
    const isList = sample.columns.length === 2 && sample.rows <= codesMax && new Set(key?.texts).size === sample.rows
    return isList && key !== undefined && value !== undefined ? [{ sample, key: key.name, value: value.name }] : []
  })
  const fileNames = lists.map(({ sample }) => sample.name.replace(/\.\w+$/, ''))
  const names = distinctNames(fileNames, 'codes')
  return lists.map((list, index) => ({ ...list, name: names[index] ?? '' }))
}

/** A column whose texts are all codes of a list is looked up in it. */
function withLookup(guess: Guess, { columns }: Sample, lookups: readonly ProposedLookup[]): Guess {
  const texts = columns.find(({ name }) => name === guess.rule)?.texts ?? []
  const lookup = lookups.find(({ sample, key }) => {
    const codes = sample.columns.find(({ name }) => name === key)?.texts ?? []
    return texts.length > 0 && texts.every((text) => codes.includes(text))
  })
  if (lookup === undefined || !/_name$|_type$/.test(guess.attribute)) return guess
  return { ...guess, rule: { column: guess.rule, lookup: lookup.name } }
}

function isBy({ rule }: Guess, lookup: string): boolean {
  return typeof rule === 'object' && rule.lookup === lookup
}

function unusedLetter(name: string, used: Set<string>): string {
  const letters = [...wordOf(name).toUpperCase(), ...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].filter((each) => /[A-Z]/.test(each))
  const letter = letters.find((each) => !used.has(each)) ?? 'X'
  used.add(letter)
  return letter
}

function proposeFile(dataset: DatasetName, sample: Sample, keyConstant: string | null): ProposedFile | null {
  const key = keyOf(dataset, sample)
  if (key === null) return null
  const found = guessAttributes(dataset, sample)
  const guesses = [...found, ...requiredGuesses(dataset, sample, found)]
  const signed = guesses.map((guess) => (guess.attribute === 'amount' ? withSign(guess, sample, guesses) : guess))
  const location = sample.columns.find(isLocationColumn)?.name ?? null
  const used = new Set([key.name, location, ...signed.flatMap(({ columns }) => columns)])
  if (dataset === 'ledger_transactions' && !signed.some(({ attribute }) => attribute === 'amount')) return null
  return {
    sample,
    dataset,
    key: key.name,
    keyQuestion: key.isCertain ? null : 'Which column, or which columns together, are different in every row?',
    keyConstant,
    locationColumn: location,
    guesses: signed,
    unused: sample.columns.flatMap(({ name }) => (used.has(name) ? [] : [name])),
  }
}

function keyOf(
  dataset: DatasetName,
  { columns, rows, statement }: Sample,
): { name: string; isCertain: boolean } | null {
  const [own, ...others] = statement?.key ?? []
  if (own !== undefined && others.length === 0) return { name: own, isCertain: true }
  const isUnique = ({ texts }: Column) => texts.length === rows && new Set(texts).size === rows
  const named = keyWords[dataset].flatMap((word) => columns.filter(({ name }) => wordOf(name) === word))
  const certain = named.find(isUnique)
  const column = certain ?? named[0] ?? columns.find(isUnique) ?? columns[0]
  return column === undefined ? null : { name: column.name, isCertain: certain !== undefined }
}

/** Constants for what every record needs and no column was found for. */
function requiredGuesses(dataset: DatasetName, { name }: Sample, guesses: readonly Guess[]): Guess[] {
  const constant = (attribute: string, value: unknown, question: string): Guess[] =>
    guesses.some((guess) => guess.attribute === attribute)
      ? []
      : [{ attribute, rule: { constant: value }, question, columns: [], texts: [] }]
  switch (dataset) {
    case 'patients':
      return constant('status', 'active', 'No column says who is active: are all patients of this file?')
    case 'appointments':
      return constant('status', 'scheduled', 'No column says which visits were kept or cancelled: are all to come?')
    case 'treatments':
      return [
        ...constant('status', 'completed', 'No column says which treatments are planned: are all completed?'),
        ...constant('quantity', 1, 'No column says how many units there are: is it always one?'),
      ]
    case 'ledger_transactions':
      return constant('transaction_type', typeOf(name), 'Taken from the name of the file: is every row of this type?')
    case 'fee_schedules':
      return constant('schedule_type', 'standard', 'Are these the fees of the practice itself?')
    case 'patient_referrals':
      return constant('direction', 'incoming', 'Did all of these refer a patient to the practice?')
    case 'insurance_plans':
      return []
  }
}

function typeOf(name: string): string {
  const word = wordOf(name)
  if (/adj|korrektur/.test(word)) return 'adjustment'
  if (/ins|kasse|versicherung/.test(word)) return 'insurance_payment'
  return /pay|receipt|zahlung/.test(word) ? 'patient_payment' : 'charge'
}

/** Amounts that reduce what is owed are negative for vendors, and positive in a list of payments. */
function withSign(guess: Guess, { columns }: Sample, guesses: readonly Guess[]): Guess {
  const rule = typeof guess.rule === 'string' ? { column: guess.rule } : guess.rule
  const type = guesses.find(({ attribute }) => attribute === 'transaction_type')
  const constant = typeof type?.rule === 'object' ? type.rule.constant : undefined
  const texts = columns.find(({ name }) => name === guess.columns[0])?.texts ?? []
  const hasNegative = texts.some((text) => /^\(|-|cr$/i.test(text))
  if ('debit' in rule || hasNegative) return guess
  const ask = (question: string) => [guess.question, question].filter((each) => each !== null).join(' ')
  if (constant === 'patient_payment' || constant === 'insurance_payment')
    return { ...guess, rule: { ...rule, negate: true }, question: ask('Payments must be negative: does negate fit?') }
  if (constant !== undefined) return guess
  return {
    ...guess,
    question: ask(
      'No amount is negative. If payments are in this file too, read it twice: with where for each type, and negate = true for payments.',
    ),
  }
}
