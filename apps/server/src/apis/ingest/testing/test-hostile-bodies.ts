import { limits } from '@bridgework/contract'
import { type IngestRouteName, listHashLength } from '@bridgework/contract/ingest'
import { aPlan, aRecord, toNdjson } from '../../../testing/test-world.ts'

/** One of the worst bodies of a route. */
export type HostileBody = {
  what: string
  route: IngestRouteName
  dataset: string
  type: 'application/json' | 'application/x-ndjson'
  /** Its text, one after the other: what is stored differs, so that no time is an unchanged one. */
  variants: (() => string)[]
  /** The right answers. */
  statuses: number[]
  /** The route of enrolment takes no gzip. */
  isPacked?: false
}

const mebibyte = 2 ** 20
const json = 'application/json'
const ndjson = 'application/x-ndjson'
const repeated = (text: string, bytes: number) => text.repeat(Math.ceil(bytes / text.length))
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** The worst that every ingest route may be sent, legal and illegal. */
export function hostileBodies(): HostileBody[] {
  const records = { route: 'sendRecords', dataset: 'insurance_plans', type: ndjson } as const
  const slice = { route: 'sendListSlice', dataset: 'insurance_plans', type: ndjson } as const
  const locations = { route: 'sendLocations', dataset: '', type: json } as const
  const small = {
    dataset: 'insurance_plans',
    type: json as typeof json,
    variants: [() => repeated('[', 16 * 1024 - 10)],
  } satisfies Partial<HostileBody>
  const illegal = [400, 413, 422]
  return [
    {
      ...records,
      what: '10,000 wide plans, then others, then none',
      variants: [() => widePlans('w'), () => widePlans('v'), () => widePlans(null)],
      statuses: [200],
    },
    {
      ...records,
      dataset: 'fee_schedules',
      what: 'three schedules of 50,000 fees',
      variants: [() => feeSchedules('125.00'), () => feeSchedules('99.00')],
      statuses: [200],
    },
    { ...records, what: 'lists within lists', variants: [() => repeated('[', 15 * mebibyte)], statuses: illegal },
    {
      ...records,
      what: 'lists within lists, by lines',
      variants: [() => repeated('[[[[[[[[\n', 15 * mebibyte)],
      statuses: illegal,
    },
    {
      ...records,
      what: 'objects in one line',
      variants: [() => `[${repeated('{},', 7 * mebibyte)}0]`],
      statuses: illegal,
    },
    { ...records, what: 'an open string', variants: [() => `"${repeated('\\"', 15 * mebibyte)}`], statuses: illegal },
    { ...records, what: 'empty lines', variants: [() => repeated('\n', 15 * mebibyte)], statuses: illegal },
    { ...records, what: '200 MiB of zeros', variants: [() => repeated('\0', 200 * mebibyte)], statuses: illegal },
    { ...slice, what: '10,000 long keys', variants: [longKeys], statuses: [200] },
    {
      ...slice,
      what: 'lists within lists, by lines',
      variants: [() => repeated('[[\n', 15 * mebibyte)],
      statuses: illegal,
    },
    {
      ...slice,
      what: 'one endless key',
      variants: [() => `{"after":null}\n{"source_id":"${repeated('k', 15 * mebibyte)}"`],
      statuses: illegal,
    },
    { ...slice, what: 'empty lines', variants: [() => repeated('\n', 15 * mebibyte)], statuses: illegal },
    {
      ...locations,
      what: '1,000 wide locations',
      variants: [() => wideLocations('America/New_York')],
      statuses: [200],
    },
    {
      ...locations,
      what: 'a time zone of 500 signs',
      variants: [() => wideLocations(`A${'-'.repeat(499)}`)],
      statuses: illegal,
    },
    {
      ...locations,
      what: 'lists within lists',
      variants: [() => repeated('[', 4 * mebibyte - 10)],
      statuses: illegal,
    },
    {
      ...locations,
      what: 'objects for locations',
      variants: [() => `{"locations":[${repeated('{},', 4 * mebibyte - 100)}{}]}`],
      statuses: illegal,
    },
    {
      ...small,
      route: 'heartbeat',
      what: 'lists within lists',
      variants: [() => repeated('[', mebibyte - 10)],
      statuses: illegal,
    },
    {
      ...small,
      route: 'heartbeat',
      what: 'objects for problems',
      variants: [() => `{"problems":[${repeated('{},', mebibyte - 100)}{}]}`],
      statuses: illegal,
    },
    { ...small, route: 'beginList', what: 'lists within lists', statuses: illegal },
    { ...small, route: 'finishList', what: 'lists within lists', statuses: illegal },
    // 429: after ten attempts.
    { ...small, route: 'enrolAgent', what: 'lists within lists', statuses: [...illegal, 429], isPacked: false },
  ]
}

/** As many plans as an upload may have. Null: their removals. */
function widePlans(letter: string | null): string {
  const wide = letter?.repeat(250)
  const plan = wide
    ? aPlan({ plan_name: wide, group_number: wide, carrier_name: wide, employer_name: wide, payer_id: wide })
    : null
  return toNdjson(Object.fromEntries(numbers(limits.uploadLinesMax).map((each) => [`w${each}`, plan])))
}

function feeSchedules(amount: string): string {
  const fees = numbers(50_000).map((each) => ({
    procedure_code: `D${each}`,
    amount,
    provider_source_id: null,
    effective_on: null,
  }))
  const schedule = aRecord('fee_schedules', { fees })
  return toNdjson({ a: schedule, b: schedule, c: schedule })
}

function longKeys(): string {
  const hash = 'a'.repeat(listHashLength)
  const keys = numbers(limits.sliceKeysMax).map((each) => String(each).padStart(limits.sourceIdLengthMax, 'k'))
  const entries = keys.sort().map((source_id) => JSON.stringify({ source_id, hash }))
  return [JSON.stringify({ after: null }), ...entries].join('\n')
}

function wideLocations(timeZone: string): string {
  const wide = 'w'.repeat(300)
  const hours = [{ opens: '08:00', closes: '12:00' }]
  const locations = numbers(1000).map((each) => ({
    source_id: `l${each}`,
    name: wide,
    address_line_1: wide,
    address_line_2: wide,
    city: wide,
    state: wide,
    postal_code: null,
    country: null,
    phone: wide,
    email: wide,
    website_url: wide,
    time_zone: timeZone,
    currency: 'USD',
    is_active: true,
    practice_management_system: { name: wide, version: wide },
    office_hours: { monday: hours, tuesday: hours, wednesday: hours, thursday: hours, friday: hours },
  }))
  return JSON.stringify({ locations })
}
