import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Problem } from '../../../platform/errors/problem.ts'
import {
  type Query,
  readBefore,
  readChoice,
  readCompanyId,
  readDays,
  readInstant,
  readPageNumber,
  readPeriod,
  readQuery,
  readSearch,
  readSort,
  readStatuses,
  readText,
} from './query.ts'

const day = (text: string) => Temporal.PlainDate.from(text)
const companyId = '1b4e28ba-2fa1-4d2b-883f-0016d3cca427'

/** Each kind of parameter: how it is read, its name, what an absent one means, what is read of good texts, and bad texts. */
const kinds: Record<
  string,
  { read: (query: Query) => unknown; name: string; absent: unknown; good: [string, unknown][]; bad: string[] }
> = {
  'a text to search for, of at most 100 characters': {
    read: (query) => readSearch(query),
    name: 'search',
    absent: '',
    good: [
      [' Ada ', 'Ada'],
      ['a'.repeat(100), 'a'.repeat(100)],
    ],
    bad: ['a'.repeat(101)],
  },
  'a text, of at most 100 characters': {
    read: (query) => readText(query, 'code'),
    name: 'code',
    absent: null,
    good: [
      [' Ada ', 'Ada'],
      [' ', null],
      ['a'.repeat(100), 'a'.repeat(100)],
    ],
    bad: ['a'.repeat(101)],
  },
  'the number of a page': {
    read: readPageNumber,
    name: 'page',
    absent: 1,
    good: [
      ['1', 1],
      ['10', 10],
      ['999999', 999_999],
    ],
    bad: ['0', '-1', '01', '1.5', '1e5', ' 1', '1 ', '1000000', '99999999999', 'x1', '1x'],
  },
  'a word': {
    read: (query) => readChoice(query, 'state', ['active', 'closed']),
    name: 'state',
    absent: null,
    good: [
      ['active', 'active'],
      ['closed', 'closed'],
    ],
    bad: ['ACTIVE', 'active ', 'toString'],
  },
  'a first day': {
    read: (query) => readDays(query).from?.toString() ?? null,
    name: 'from',
    absent: null,
    good: [
      ['2000-01-01', '2000-01-01'],
      ['2024-02-29', '2024-02-29'],
      ['2199-12-31', '2199-12-31'],
    ],
    bad: ['1999-12-31', '2200-01-01', '2026-02-29', '2026-1-01', 'x2026-01-01', '2026-01-01x', '2026-01-01T00:00:00Z'],
  },
  'a company': {
    read: readCompanyId,
    name: 'company_id',
    absent: null,
    good: [[companyId, companyId]],
    bad: ['0', `${companyId}0`, 'x'],
  },
  'the id of an entry': {
    read: readBefore,
    name: 'before',
    absent: null,
    good: [
      ['1', '1'],
      ['9'.repeat(18), '9'.repeat(18)],
    ],
    bad: ['0', '-1', '01', '9'.repeat(19), 'x1', '1x'],
  },
  'an instant': {
    read: (query) => readInstant(query, 'since')?.toISOString() ?? null,
    name: 'since',
    absent: null,
    good: [
      ['2000-01-01T00:00:00Z', '2000-01-01T00:00:00.000Z'],
      ['2199-12-31T23:59:59.999999Z', '2199-12-31T23:59:59.999Z'],
    ],
    bad: ['1999-12-31T23:59:59Z', '2026-01-01', '2026-01-01T00:00:00', '2026-02-31T25:00:00Z', 'x2026-01-01T00:00:00Z'],
  },
  'a status': {
    read: readStatuses,
    name: 'status',
    absent: [0, 999],
    good: [
      ['404', [404, 404]],
      ['100', [100, 100]],
      ['599', [599, 599]],
      ['2xx', [200, 299]],
      ['5xx', [500, 599]],
    ],
    bad: ['1xx', '6xx', '600', '099', '40', '4404', '4040', '4xxx', 'x4xx'],
  },
  'an order': {
    read: (query) => readSort(query, ['name', 'state']),
    name: 'sort',
    absent: null,
    good: [
      ['name', { by: 'name', isDescending: false }],
      ['-state', { by: 'state', isDescending: true }],
    ],
    bad: ['--name', 'na-me', 'NAME', '-', 'toString'],
  },
}

for (const [kind, { read, name, absent, good, bad }] of Object.entries(kinds)) {
  test(`${kind}: what is accepted is read, and anything else is refused by its name`, () => {
    for (const query of [{}, { [name]: '' }]) assert.deepEqual(read(query), absent)
    for (const [text, value] of good) assert.deepEqual(read({ [name]: text }), value, text)
    for (const text of bad) assert.throws(() => read({ [name]: text }), refused(name), text)
  })
}

test('a last day is none before the first, and a period ends when the day after it begins in the zone of the place', () => {
  const query = { from: '2026-03-08', to: '2026-03-08' }
  const { from, to } = readDays(query)
  assert.ok(from?.equals(day('2026-03-08')) && to?.equals(from))
  assert.throws(() => readDays({ ...query, to: '2026-03-07' }), refused('from must not be later than to.'))
  assert.throws(() => readDays({ ...query, to: '2200-01-01' }), refused('to'))
  // The day on which clocks go forward has 23 hours.
  assert.deepEqual(readPeriod(query, 'America/New_York'), {
    from: new Date('2026-03-08T05:00:00Z'),
    until: new Date('2026-03-09T04:00:00Z'),
  })
  const { from: begin, until: end } = readPeriod({}, 'America/New_York')
  assert.ok(begin < new Date('2000-01-01') && end > new Date('2200-01-01'))
})

test('a query has the parameters of its route, each once, and none with U+0000', () => {
  const names = ['search', 'page']
  assert.deepEqual(readQuery(names, ''), { search: '', page: '' })
  assert.deepEqual(readQuery(names, 'page=2&search=a%26b'), { search: 'a&b', page: '2' })
  assert.deepEqual(readQuery([], ''), {})
  for (const [raw, said] of [
    ['page=1&page=1', 'page is not a parameter here, or it comes twice. Parameters: search, page.'],
    ['search=a&sort=b', 'sort is not a parameter here'],
    [`${'a'.repeat(51)}=1`, `${'a'.repeat(50)} is not`],
    ['page=1&search=a%00', 'search contains the character U+0000'],
  ] as const)
    assert.throws(() => readQuery(names, raw), refused(said), raw)
  assert.throws(
    () => readQuery([], 'page=1'),
    refused('page is not a parameter here, or it comes twice. Parameters: none.'),
  )
})

function refused(said: string) {
  return (error: unknown) => {
    const { code, errors } = error as Problem
    assert.deepEqual([code, errors.startsWith(said)], ['parameter_invalid', true], errors)
    return true
  }
}
