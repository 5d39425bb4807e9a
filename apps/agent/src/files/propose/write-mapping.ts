import { datasetNames } from '@bridgework/contract'
import type { Guess } from './attributes.ts'
import type { Proposal, ProposedFile } from './propose.ts'
import type { ProposedStatement, Sample } from './sample.ts'
import { distinctNames } from './words.ts'

/** What the files do not say. */
export type Office = { readonly name: string; readonly timeZone: string }

/** The mapping as TOML, with each question in a comment. Of the files' cells it has only codes and names of locations. */
export function writeMapping(
  { files, lookups, locations, nullWords, locationNames }: Proposal,
  office: Office,
): string {
  const keys = distinctNames(locations, 'location')
  const isDatabase = files.some(({ sample }) => sample.statement !== null)
  const lines = [
    `# Proposed by "bridgework-agent map" from the names and the content of ${isDatabase ? 'tables' : 'sample files'}. Answer each line that begins`,
    `# with "# ?", then run "bridgework-agent check". docs/guides/${isDatabase ? 'sql-databases' : 'export-files'}.md explains every setting.`,
    'version = 2',
    ...(nullWords.length > 0 ? [`null_words = ${toml(nullWords)}`] : []),
    '',
    ...(isDatabase
      ? [
          '# ? Of which practice management system is the database? Vendors see its name.',
          'practice_management_system = { name = "SQL database" }',
        ]
      : [
          '# ? Which practice management system wrote the files? Vendors see its name.',
          'practice_management_system = { name = "Export files" }',
        ]),
    ...(locations.length === 0 ? locationLines('main', office) : []),
    ...locations.flatMap((name, index) => [
      ...locationLines(keys[index] ?? '', { ...office, name: locationNames.get(name) ?? `${office.name}, ${name}` }),
      `names_in_files = ${toml([name])}`,
    ]),
    ...lookups.flatMap(({ name, sample, key, value }) => [
      '',
      `[lookups.${name}]`,
      ...formatLines(sample),
      `key = ${toml(key)}`,
      `value = ${toml(value)}`,
    ]),
    ...datasetNames.flatMap((dataset) => {
      const own = files.filter((file) => file.dataset === dataset)
      return own.flatMap((file) => [
        '',
        own.length > 1 ? `[[datasets.${dataset}.${isDatabase ? 'statements' : 'files'}]]` : `[datasets.${dataset}]`,
        ...fileLines(file, locations.length > 0),
      ])
    }),
  ]
  return `${lines.join('\n')}\n`
}

function locationLines(key: string, { name, timeZone }: Office): string[] {
  return [
    '',
    '# ? The key in brackets must never change. Are name, time zone, country and currency right?',
    `[locations.${key}]`,
    `name = ${toml(name)}`,
    `time_zone = ${toml(timeZone)}`,
  ]
}

function fileLines(file: ProposedFile, hasLocations: boolean): string[] {
  const { sample, key, keyQuestion, keyConstant, locationColumn, guesses, unused } = file
  const location = hasLocations && locationColumn !== null ? [locationColumn] : []
  const heads = [key, ...location]
  const rows =
    sample.statement === null
      ? formatLines(sample)
      : statementLines(sample.statement, heads, [...heads, ...guesses.flatMap(({ columns }) => columns)])
  const named = new Set(rows.join(' ').split(/\W+/))
  const left = sample.statement === null ? unused : unused.filter((name) => !named.has(name))
  return [
    ...rows,
    ...asked(keyQuestion),
    `key = ${toml(keyConstant === null ? key : [{ constant: keyConstant }, key])}`,
    ...(hasLocations && locationColumn !== null ? [`location_column = ${toml(locationColumn)}`] : []),
    ...(hasLocations && locationColumn === null
      ? ['# ? No column names the location. Does every record belong to all of them?', 'all_locations = true']
      : []),
    ...guesses.flatMap(attributeLines),
    ...(left.length > 0 ? [`# Not used: ${left.map((name) => JSON.stringify(name)).join(', ')}`] : []),
  ]
}

/** The statement with the columns that are used, and how its changes are seen. */
function statementLines(
  { selectOf, changed, deleted }: ProposedStatement,
  heads: readonly string[],
  columns: readonly string[],
): string[] {
  const select = selectOf([...columns, ...(changed === null ? [] : [changed.rule.column])])
  return [
    ...asked(
      deleted === null
        ? null
        : `Does the column ${JSON.stringify(deleted)} mark rows that do not count? Then add a condition.`,
    ),
    `select = '''${select}'''`,
    ...(select.includes(' join ') ? [`keys = '''${selectOf(heads)}'''`] : []),
    ...(changed === null
      ? ['# ? No column was found that every change sets, so everything is read every 15 minutes. Is there one?']
      : [...asked(changed.question), `changed = ${toml(changed.rule)}`]),
  ]
}

function formatLines({ pattern, format, delimiter, encoding, around }: Sample): string[] {
  return [
    `file = ${toml(pattern)}`,
    ...(format === 'csv' && delimiter !== ',' ? [`delimiter = ${toml(delimiter)}`] : []),
    ...(encoding === null
      ? []
      : [
          '# ? The file is not UTF-8. Are the letters in names right in what check shows? If not, name another encoding.',
          `encoding = ${toml(encoding)}`,
        ]),
    ...(around.length === 0
      ? []
      : ['# ? Are rows that begin with these words titles or totals, not records?', `skip_starting = ${toml(around)}`]),
  ]
}

function attributeLines({ attribute, rule, question }: Guess): string[] {
  return [...asked(question), `attributes.${attribute} = ${toml(rule)}`]
}

function asked(question: string | null): string[] {
  return question === null ? [] : [`# ? ${question}`]
}

/** A value in TOML. A string of JSON is a string of TOML too (https://toml.io/en/v1.0.0#string). */
export function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, each]) => `${bareKey(name)} = ${toml(each)}`)
  return `{ ${members.join(', ')} }`
}

function bareKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name)
}
