/** Whether a text is accepted, and what the parameter must be otherwise. */
type Rule = readonly [accepts: (text: string) => boolean, must: string]

const upTo100: Rule = [(text) => text.trim().length <= 100, 'have at most 100 characters']
const aDay: Rule = [isDay, 'be a day like 2026-01-31, from 2000 to 2199']
const anInstant: Rule = [
  (text) => /^2[01]\d\d-\d\d-\d\dT[\d:.]{5,15}Z$/.test(text) && !Number.isNaN(Date.parse(text)),
  'be an instant like 2026-01-31T14:05:00Z, from 2000 to 2199',
]

/** The parameters of lists that hold more than one of a few words. */
const rules = {
  search: upTo100,
  person: upTo100,
  code: upTo100,
  route: upTo100,
  parameter: upTo100,
  rule: upTo100,
  organization_id: upTo100,
  location_id: upTo100,
  dataset: upTo100,
  client_id: upTo100,
  request_id: upTo100,
  page: [(text) => /^[1-9]\d{0,5}$/.test(text), 'be a whole number from 1 to 999999'],
  from: aDay,
  to: aDay,
  since: anInstant,
  until: anInstant,
  status: [(text) => /^([1-5]\d\d|[2-5]xx)$/.test(text), 'be a number like 404 or a class like 4xx'],
  company_id: [
    (text) => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text),
    'be the id of a company',
  ],
} as const satisfies Record<string, Rule>

export type FilterName = keyof typeof rules

/** What is wrong with a parameter of a list: a sentence that begins with its name. Null where nothing is, or where it is absent. */
export function filterFault(name: FilterName, text: string): string | null {
  const [accepts, must] = rules[name]
  return text === '' || accepts(text) ? null : `${name} must ${must}.`
}

/** What is wrong with the parameters of a list, by name. The server refuses each of them; a page says so at its field, and asks without it. */
export function filterFaults(filters: object): { [name in FilterName]?: string } {
  const entries = Object.entries(filters).filter((entry): entry is [FilterName, string] =>
    Object.hasOwn(rules, entry[0]),
  )
  const faults = Object.fromEntries(
    entries.flatMap(([name, value]) => {
      const fault = filterFault(name, String(value ?? ''))
      return fault === null ? [] : [[name, fault]]
    }),
  )
  const { from, to } = Object.fromEntries(entries)
  const isInOrder = !from || !to || faults.from !== undefined || faults.to !== undefined || from <= to
  return isInOrder ? faults : { ...faults, to: 'from must not be later than to.' }
}

/** What the lists of the operator are sorted by. */
export const sortColumns = {
  companies: ['name', 'state', 'verified', 'created'],
  organizations: ['name', 'id', 'locations', 'second_factor', 'created'],
  agents: ['name', 'organization', 'last_contact', 'version', 'enrolled'],
} as const

export type SortedList = keyof typeof sortColumns

/** The parameters that the server accepts; the others are undefined. */
export function acceptedFilters<T extends object>(filters: T): T {
  const faults = filterFaults(filters)
  return Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [name, Object.hasOwn(faults, name) ? undefined : value]),
  ) as T
}

function isDay(text: string): boolean {
  const instant = /^2[01]\d\d-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN)
  // A day that is none, like 30 February, becomes another one.
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text)
}
