import { findDataset } from '@bridgework/contract'
import type { DatasetName, Finding, JsonValue, SourceRecord } from '../connector.ts'
import { localIn } from '../open-dental/time/wall-time.ts'
import { ledgerSums } from './ledger-sums.ts'
import type { DatasetMapping, Mapping } from './mapping/mapping.ts'
import type { ColumnRule } from './reading/convert.ts'
import { type KeySet, keySet } from './reading/key-set.ts'
import type { RecordWatch, SeenValue } from './watching/record-watch.ts'

/** What `check` shows of the values that vendors would receive, and what it asks about those that look wrong. */
export type Profile = {
  watch(dataset: DatasetMapping): RecordWatch
  details(dataset: DatasetMapping): NonNullable<Finding['details']>
  /** Once all datasets were read. */
  findings(): Finding[]
}

/** One attribute's values so far, of one file: each writes amounts and times in its own way. */
type Seen = {
  readonly attribute: string
  readonly file: string
  readonly kind: SeenValue['kind']
  readonly rule: ColumnRule
  values: number
  empty: number
  /** Texts of the file with their values. */
  readonly samples: Map<string, string>
  /** How often each value of an enumeration came. */
  readonly counts: Map<string, number>
  smallest: number | null
  largest: number | null
  hasDecimals: boolean
  midnights: number
  /** Dates that are another day than their text says. */
  otherDays: number
}
type References = {
  readonly attribute: string
  readonly dataset: string
  readonly keysOf: (record: SourceRecord) => readonly string[]
  readonly keys: Map<string, number>
}

const samplesMax = 3
const sampleLengthMax = 40
/** The longest visit of any practice takes more minutes than this; counted in units of 5 to 15 minutes it has fewer. */
export const longestVisitMin = 24

export function profile(mapping: Mapping): Profile {
  const seen = new Map<DatasetName, Map<string, Seen>>()
  const keys = new Map<string, KeySet>()
  const references = new Map<DatasetName, References[]>()
  const sums = ledgerSums()

  return {
    watch: ({ dataset }) => {
      const attributes = new Map<string, Seen>()
      const own = keySet()
      const refers = referencesOf(dataset)
      seen.set(dataset, attributes)
      keys.set(dataset, own)
      references.set(dataset, refers)
      return {
        value: (each) => note(attributes, each),
        record: ({ record, locationKeys }) => {
          for (const location of locationKeys) own.add(`${location}\n${record.source_id}`)
          for (const { keysOf, keys: named } of refers) {
            // A record at several locations counts at the first one.
            for (const key of keysOf(record)) add(named, `${locationKeys[0]}\n${key}`)
          }
          sums.note(dataset, record)
        },
      }
    },
    details: (dataset) => detailsOf(dataset, seen.get(dataset.dataset) ?? new Map()),
    findings: () => [
      ...mapping.datasets.flatMap(({ dataset }) => questions(dataset, seen.get(dataset) ?? new Map())),
      ...mapping.datasets.flatMap(({ dataset }) =>
        (references.get(dataset) ?? []).flatMap((each) => referenceFinding(dataset, each, keys.get(each.dataset))),
      ),
      ...sums.findings(),
    ],
  }
}

function note(attributes: Map<string, Seen>, { file, attribute, kind, rule, text, value, timeZone }: SeenValue): void {
  const at = `${file}\n${attribute}`
  const seen: Seen = attributes.get(at) ?? {
    attribute,
    file,
    kind,
    rule,
    values: 0,
    empty: 0,
    samples: new Map(),
    counts: new Map(),
    smallest: null,
    largest: null,
    hasDecimals: false,
    midnights: 0,
    otherDays: 0,
  }
  attributes.set(at, seen)
  seen.values += 1
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) {
    seen.empty += 1
    return
  }
  const sample = (each: string) => (each.length > sampleLengthMax ? `${each.slice(0, sampleLengthMax)}…` : each)
  if (seen.samples.size < samplesMax) seen.samples.set(sample(text), sample(String(value)))
  if (kind.kind === 'enum' || kind.kind === 'boolean') add(seen.counts, String(value))
  if (kind.kind === 'money' || kind.kind === 'integer') {
    seen.smallest = Math.min(seen.smallest ?? Number(value), Number(value))
    seen.largest = Math.max(seen.largest ?? Number(value), Number(value))
    if (text.includes(rule.decimal)) seen.hasDecimals = true
  }
  if (kind.kind === 'date' && /^\d{4}-\d{2}-\d{2}/.test(text) && !text.startsWith(String(value))) seen.otherDays += 1
  if (kind.kind === 'instant' || kind.kind === 'wall_time') {
    const local = kind.kind === 'instant' && timeZone !== null ? localIn(timeZone, new Date(String(value))) : value
    if (String(local).endsWith('T00:00:00')) seen.midnights += 1
  }
}

function detailsOf(dataset: DatasetMapping, seen: ReadonlyMap<string, Seen>): NonNullable<Finding['details']> {
  const placeOf = (file: string) => (dataset.tables.length > 1 ? ` in ${file}` : '')
  const columns = [...seen.values()].map((each) => {
    const counts = [...each.counts].map(([value, count]) => `${value} ${percent(count, each.values)}`)
    const empty = each.empty === 0 ? 'never empty' : `empty in ${each.empty} of ${each.values}`
    return {
      what: [
        `${each.attribute} from "${each.rule.columns.filter((part) => typeof part === 'string').join('", "')}"${placeOf(each.file)}: ${empty}`,
        ...counts,
      ].join(', '),
      samples: samplesOf(each),
    }
  })
  const constants = dataset.tables.flatMap(({ pattern, attributes }) =>
    [...attributes].flatMap(([name, rule]) => {
      if (!('constant' in rule) || dataset.unmapped.includes(name) || isNeutral(rule.constant)) return []
      return [{ what: `${name}: always ${JSON.stringify(rule.constant)}${placeOf(pattern)}`, samples: '' }]
    }),
  )
  const unmapped = { what: `not mapped: ${dataset.unmapped.join(', ')}`, samples: '' }
  return [...columns, ...constants, ...(dataset.unmapped.length > 0 ? [unmapped] : [])]
}

/** What an attribute is in a table that leaves it out. */
function isNeutral(constant: JsonValue): boolean {
  return constant === null || constant === false || (Array.isArray(constant) && constant.length === 0)
}

function samplesOf({ kind, samples, smallest, largest }: Seen): string {
  const shown = [...samples].map(([text, value]) => (text === value ? `"${text}"` : `"${text}" → ${value}`)).join(', ')
  if (smallest === null || largest === null) return shown
  const [least, most] = [smallest, largest].map((each) => (kind.kind === 'money' ? each.toFixed(2) : String(each)))
  return `${shown}; from ${least} to ${most}`
}

/** What a wrong mapping looks like, though every value can be read. */
function questions(dataset: DatasetName, seen: ReadonlyMap<string, Seen>): Finding[] {
  const isOne = new Set([...seen.values()].map(({ file }) => file)).size === 1
  return [...seen.values()].flatMap((each): Finding[] => {
    const place = isOne ? dataset : `${dataset} in ${each.file}`
    const ask = (what: string, todo: string): Finding => ({ outcome: 'advice', what: `${place}: ${what}`, todo })
    const { attribute, kind, smallest, largest, hasDecimals, midnights, otherDays } = each
    const filled = each.values - each.empty
    if (filled === 0) return []
    if (kind.kind === 'money' && !hasDecimals && each.rule.scale === 0 && (smallest !== 0 || largest !== 0))
      return [
        ask(
          `no amount of ${attribute} has decimals. Are they in cents?`,
          'If they are, set scale = 2; if they are whole, there is nothing to do.',
        ),
      ]
    if (attribute === 'duration_minutes' && largest !== null && largest > 0 && largest <= longestVisitMin)
      return [
        ask(
          `no visit is longer than ${longestVisitMin} minutes. Are the lengths in units of several minutes?`,
          'If they are, set multiply to the minutes of one unit.',
        ),
      ]
    if (dataset === 'appointments' && /starts_at$/.test(attribute) && midnights === filled)
      return [
        ask(
          `every visit is at midnight in ${attribute}. Is the time of day in a column of its own?`,
          'If it is, join both: column = ["Date", "Time"].',
        ),
      ]
    if (otherDays > 0)
      return [
        ask(
          `${otherDays} of ${filled} of ${attribute} are another day in the time zone of the location than in the file.`,
          'If the file means days and its times have no meaning, set ignore_offset = true.',
        ),
      ]
    return []
  })
}

function referencesOf(dataset: DatasetName): References[] {
  return (findDataset(dataset)?.refersTo ?? []).map((rule) => ({
    attribute: rule.attribute.replace(/(_id(s?))?$/, '_source_id$2'),
    dataset: rule.dataset,
    // Records are read as the dataset's source says: the contract checked them.
    keysOf: ({ attributes }) => rule.keysOf(attributes as never),
    keys: new Map(),
  }))
}

function referenceFinding(
  dataset: DatasetName,
  { attribute, dataset: other, keys }: References,
  known: KeySet | undefined,
): Finding[] {
  if (keys.size === 0) return []
  if (known === undefined) {
    const what = `${dataset}: ${attribute} names records of ${other}, which the mapping leaves out: vendors receive null.`
    return [{ outcome: 'advice', what, todo: `Map ${other} if the system can export it.` }]
  }
  let all = 0
  let missing = 0
  for (const [key, count] of keys) {
    all += count
    if (!known.has(key)) missing += count
  }
  const type = findDataset(other)?.type.replaceAll('_', ' ')
  if (missing === 0)
    return [{ outcome: 'good', what: `${dataset}: all ${all} ${attribute} find their ${type}.`, todo: null }]
  return [
    {
      outcome: missing === all ? 'wrong' : 'advice',
      what: `${dataset}: ${missing} of ${all} ${attribute} find no ${type}.`,
      todo: 'Compare the keys of both files: leading zeros count. Put a key that stands for nothing, like 0, into "empty".',
    },
  ]
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function percent(count: number, all: number): string {
  return `${Math.round((count / all) * 100)}%`
}
