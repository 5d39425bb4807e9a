import { type FilterName, filterFault, filterFaults } from '@bridgework/contract/portal'
import type { Sort } from '../../../platform/database/search.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { type CompanyId, parseUuid } from '../../../platform/identity/identity.ts'

/** The parameters of a request's query, by name; '' for one that is absent. */
export type Query = Record<string, string>

/**
 * The parameters that a route takes. Throws Problem parameter_invalid for any other and for one that comes twice, as every function here does
 * for a value that is not accepted: by name, with what is accepted. What a value can ask for is bounded here or by the statement that reads it.
 */
export function readQuery(names: readonly string[], raw: string): Query {
  const parameters = new URLSearchParams(raw)
  for (const name of parameters.keys()) {
    if (!names.includes(name) || parameters.getAll(name).length > 1) {
      const accepted = names.length === 0 ? 'none' : names.join(', ')
      throw invalid(`${name.slice(0, 50)} is not a parameter here, or it comes twice. Parameters: ${accepted}.`)
    }
  }
  const query = Object.fromEntries(names.map((name) => [name, parameters.get(name) ?? '']))
  const withNul = names.find((name) => query[name]?.includes('\0'))
  if (withNul !== undefined) throw invalid(`${withNul} contains the character U+0000. Leave it out.`)
  return query
}

/** One of a few words, null when it is absent. */
export function readChoice<T extends string>(query: Query, name: string, choices: readonly T[]): T | null {
  const text = query[name] ?? ''
  if (text === '') return null
  const choice = choices.find((each) => each === text)
  if (choice === undefined) throw invalid(`${name} must be one of: ${choices.join(', ')}.`)
  return choice
}

/** The number of a list's page; the first when it is absent. */
export function readPageNumber(query: Query): number {
  return Number(checked(query, 'page') || 1)
}

/** Text to search for, without the spaces around it. */
export function readSearch(query: Query, name: 'search' | 'person' = 'search'): string {
  return checked(query, name).trim()
}

/** Days without a zone, both included; null for an open end. */
export function readDays(query: Query): { from: Temporal.PlainDate | null; to: Temporal.PlainDate | null } {
  const { from = '', to = '' } = query
  const [fault] = Object.values(filterFaults({ from, to }))
  if (fault !== undefined) throw invalid(fault)
  return {
    from: from === '' ? null : Temporal.PlainDate.from(from),
    to: to === '' ? null : Temporal.PlainDate.from(to),
  }
}

/** From the first instant of the first day until that of the day after the last; an open end is far away. */
export function readPeriod(query: Query, zone: string): { from: Date; until: Date } {
  const { from, to } = readDays(query)
  return {
    from: from ? beginOf(from, zone) : new Date(0),
    until: to ? beginOf(to.add({ days: 1 }), zone) : new Date('9999-01-01'),
  }
}

/** When the day begins there. */
export function beginOf(day: Temporal.PlainDate, zone: string): Date {
  return new Date(day.toZonedDateTime(zone).epochMilliseconds)
}

export function readCompanyId(query: Query): CompanyId | null {
  return parseUuid<CompanyId>(checked(query, 'company_id'))
}

/** The id of the entry before which a list goes on. */
export function readBefore(query: Query): string | null {
  const text = query.before ?? ''
  if (text === '') return null
  if (!/^[1-9]\d{0,17}$/.test(text)) throw invalid('before must be next_before of the page before.')
  return text
}

/** An instant, null when it is absent. */
export function readInstant(query: Query, name: 'since' | 'until'): Date | null {
  const text = checked(query, name)
  return text === '' ? null : new Date(text)
}

/** The first and the last status of `404` or of `4xx`; all when it is absent. */
export function readStatuses(query: Query): readonly [number, number] {
  const text = checked(query, 'status')
  if (text === '') return [0, 999]
  if (text.endsWith('xx')) return [Number(text[0]) * 100, Number(text[0]) * 100 + 99]
  return [Number(text), Number(text)]
}

/** What a list is sorted by, `-` before it for descending; null when it is absent. */
export function readSort<T extends string>(query: Query, columns: readonly T[]): Sort<T> | null {
  const text = query.sort ?? ''
  if (text === '') return null
  const by = columns.find((each) => each === text.replace(/^-/, ''))
  if (by === undefined) throw invalid(`sort must be one of: ${columns.join(', ')}, with - before it for descending.`)
  return { by, isDescending: text.startsWith('-') }
}

/** Words that must be equal or contained, as the route says; null when it is absent. An unknown id is no error: the list is empty. */
export function readText(query: Query, name: FilterName): string | null {
  return checked(query, name).trim() || null
}

function checked(query: Query, name: FilterName): string {
  const text = query[name] ?? ''
  const fault = filterFault(name, text)
  if (fault !== null) throw invalid(fault)
  return text
}

function invalid(errors: string): Problem {
  return new Problem('parameter_invalid', { errors })
}
