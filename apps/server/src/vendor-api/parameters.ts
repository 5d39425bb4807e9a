import { type Dataset, limits } from '@bridgework/contract'
import { type OrganizationId, parseNumericId } from '../directory/identity.ts'
import { parseInstant } from '../http/instant.ts'
import { Problem } from '../http/problem.ts'
import type { Stamp } from '../records/stamp.ts'

export const sinceParameter = 'q[fetch_modified_since]'

/** A list request's parameters, each checked. `sinceText` is the moment as it was given, for links to the next page. */
export type ListParameters = {
  items: number
  since: Stamp | null
  sinceText: string | null
  after: string
  page: number
}

/** Reads the parameters of a dataset's list. Throws `parameter_invalid`, naming the parameter and what is accepted. */
export function readListParameters(rawQuery: string, mode: Dataset['pagination']): ListParameters {
  const position = mode === 'cursor' ? 'after' : 'page'
  const given = readQuery(rawQuery, [position, 'items', sinceParameter])
  const items = readItems(given)
  const sinceText = given.get(sinceParameter) ?? null
  return {
    items,
    since: sinceText === null ? null : readSince(sinceText),
    sinceText,
    after: mode === 'cursor' ? readAfter(given) : '0',
    page: mode === 'page' ? readPage(given, items) : 1,
  }
}

/** Reads the parameters of /organizations. */
export function readPageParameters(rawQuery: string): { page: number; items: number } {
  const given = readQuery(rawQuery, ['page', 'items'])
  const items = readItems(given)
  return { items, page: readPage(given, items) }
}

/** Reads the parameters of /locations. spec: GET /locations. */
export function readLocationsParameters(rawQuery: string) {
  const given = readQuery(rawQuery, ['page', 'items', 'organization_id', 'with_attribution_script_install'])
  const items = readItems(given)
  return {
    items,
    page: readPage(given, items),
    organizationId: readOrganizationId(given),
    withAttributionScript: readFlag(given, 'with_attribution_script_install'),
  }
}

/** Refuses every parameter, for paths that take none. */
export function readNoParameters(rawQuery: string): void {
  readQuery(rawQuery, [])
}

/** A misspelt or repeated parameter is refused: a delta filter that is silently ignored turns into a full sync. */
function readQuery(rawQuery: string, accepted: readonly string[]): Map<string, string> {
  const given = new Map<string, string>()
  const acceptedText = accepted.length === 0 ? 'This path accepts no parameters.' : `Accepted: ${accepted.join(', ')}.`
  for (const part of rawQuery.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decode(equals < 0 ? part : part.slice(0, equals))
    const value = decode(equals < 0 ? '' : part.slice(equals + 1))
    if (name === null || value === null) throw invalid('A parameter is not valid percent-encoded UTF-8.')
    if (!accepted.includes(name)) throw invalid(`Unknown parameter ${quote(name)}. ${acceptedText}`)
    if (given.has(name)) throw invalid(`Parameter ${name} is given more than once.`)
    given.set(name, value)
  }
  return given
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

function readItems(given: ReadonlyMap<string, string>): number {
  const text = given.get('items')
  if (text === undefined) return limits.pageSizeDefault
  if (!/^[1-9]\d{0,18}$/.test(text)) {
    throw invalid(
      `items must be a whole number of at least 1, larger than ${limits.pageSizeMax} counts as ${limits.pageSizeMax}; given: ${quote(text)}.`,
    )
  }
  return Math.min(Number(text), limits.pageSizeMax)
}

function readAfter(given: ReadonlyMap<string, string>): string {
  const text = given.get('after')
  if (text === undefined) return '0'
  if (!/^(0|[1-9]\d{0,18})$/.test(text) || BigInt(text) > 2n ** 63n - 1n) {
    throw invalid(
      `after must be a non-negative integer: the id of the last record of the previous page; given: ${quote(text)}.`,
    )
  }
  return text
}

function readPage(given: ReadonlyMap<string, string>, items: number): number {
  const text = given.get('page')
  if (text === undefined) return 1
  if (!/^[1-9]\d{0,15}$/.test(text) || Number(text) * items > Number.MAX_SAFE_INTEGER) {
    throw invalid(`page must be a whole number of at least 1; given: ${quote(text)}.`)
  }
  return Number(text)
}

function readSince(text: string): Stamp {
  const since = parseInstant(text)
  if (since !== null) return since
  const hint = text.includes(' ') ? ' A "+" in a query must be written as %2B.' : ''
  throw invalid(
    `${sinceParameter} must be an RFC 3339 date-time from 1970 on, like 2026-01-31T08:00:00Z or 2026-01-31T08:00:00.123456%2B01:00; given: ${quote(text)}.${hint}`,
  )
}

function readOrganizationId(given: ReadonlyMap<string, string>): OrganizationId | null {
  const text = given.get('organization_id')
  if (text === undefined) return null
  const id = parseNumericId<OrganizationId>(text)
  if (id === null)
    throw invalid(`organization_id must be the id of an organization, a positive whole number; given: ${quote(text)}.`)
  return id
}

function readFlag(given: ReadonlyMap<string, string>, name: string): boolean {
  const text = given.get(name)
  if (text === undefined || text === 'false' || text === '0') return false
  if (text === '' || text === 'true' || text === '1') return true
  throw invalid(`${name} must be empty, true or 1 to restrict the list, false or 0 not to; given: ${quote(text)}.`)
}

/** What the caller sent, short enough to be read and escaped for JSON and terminals alike. */
function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}

function invalid(errors: string): Problem {
  return new Problem('parameter_invalid', { errors })
}
