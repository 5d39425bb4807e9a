import { type DateReader, dateReader, escaped } from '../reading/date-format.ts'

/** A name with `*` for any text, or `{YYYYMMDD}` for a date in any format. */
export type NamePattern = {
  /** Of the folder in which the files are, below the exports. */
  readonly folder: string
  /** The names that fit, the newest last: by date where the pattern has one, else in their order, numbers as numbers. */
  matching(names: readonly string[]): string[]
}

/** The pattern in a path, null when the path is a plain one, or what is wrong with it. `{location}` was replaced before. */
export function namePattern(path: string): NamePattern | { fault: string } | null {
  const plain = path.replaceAll('{location}', '')
  if (!/[*{}]/.test(plain)) return null
  const [, folder = '', name = ''] = /^(.*[/\\])?([^/\\]*)$/.exec(plain) ?? []
  if (/[*{}]/.test(folder))
    return { fault: 'may have * and a date in the name of the file alone, not in that of a folder' }
  const dates = [...name.matchAll(/\{([^{}]*)\}/g)]
  const reader = dateReader({ format: dates[0]?.[1] ?? null, pivot: 99, language: 'en' })
  if (dates.length > 1) return { fault: 'may have one date' }
  if (typeof reader !== 'function') return { fault: `has a date that ${reader.fault}` }
  const expression = new RegExp(
    `^${name
      .split(/(\*|\{[^{}]*\})/)
      .map((part) => (part === '*' ? '.*' : part.startsWith('{') ? '(?<date>.+)' : escaped(part)))
      .join('')}$`,
    'i',
  )
  return { folder, matching: (names) => inOrder(names, expression, dates.length > 0 ? reader : null) }
}

function inOrder(names: readonly string[], expression: RegExp, readDate: DateReader | null): string[] {
  const order = new Intl.Collator('en', { numeric: true }).compare
  return names
    .flatMap((name) => {
      const found = expression.exec(name)
      if (found === null) return []
      const date = readDate === null ? null : readDate(found.groups?.date ?? '')
      if (readDate !== null && date === null) return []
      return [{ name, at: date === null ? '' : `${date.day}T${date.time}` }]
    })
    .toSorted((one, other) => (one.at === other.at ? order(one.name, other.name) : one.at < other.at ? -1 : 1))
    .map(({ name }) => name)
}
