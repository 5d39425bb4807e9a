import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptedFilters, filterFault, filterFaults } from './filter.ts'

test('a filter that the server refuses is named, with what it must be, and is left out of what is asked', () => {
  const filters = {
    from: '0002-03-01',
    to: '2026-02-30',
    search: 'Ada',
    page: '1000000',
    kind: 'people',
    since: undefined,
  }
  assert.deepEqual(filterFaults(filters), {
    from: 'from must be a day like 2026-01-31, from 2000 to 2199.',
    to: 'to must be a day like 2026-01-31, from 2000 to 2199.',
    page: 'page must be a whole number from 1 to 999999.',
  })
  assert.deepEqual(acceptedFilters(filters), {
    ...filters,
    from: undefined,
    to: undefined,
    page: undefined,
  })
})

test('of two days in the wrong order the last one is left out', () => {
  const days = { from: '2026-03-02', to: '2026-03-01' }
  assert.deepEqual(filterFaults(days), { to: 'from must not be later than to.' })
  assert.deepEqual(acceptedFilters(days), { from: '2026-03-02', to: undefined })
  assert.deepEqual(filterFaults({ from: '2026-03-01', to: '2026-03-01' }), {})
  assert.deepEqual(Object.keys(filterFaults({ from: '0002-03-01', to: '0001-01-01' })), ['from', 'to'])
})

test('days, instants, statuses and ids of companies are accepted as they are written, and nothing near them', () => {
  const accepted = {
    from: ['2000-01-01', '2024-02-29', '2199-12-31'],
    since: ['2026-01-31T14:05:00Z', '2026-01-31T14:05:00.123456Z'],
    status: ['404', '4xx'],
    company_id: ['1b4e28ba-2fa1-4d2b-883f-0016d3cca427'],
  } as const
  const refused = {
    from: ['1999-12-31', '2200-01-01', '2026-02-29', '2026-1-01', '2026-01-01T00:00:00Z', ' 2026-01-01'],
    since: ['2026-01-31', '2026-01-31T25:05:00Z', '0002-01-01T00:00:00Z'],
    status: ['1xx', '600', '40'],
    company_id: ['7', '1b4e28ba2fa14d2b883f0016d3cca427'],
  } as const
  for (const name of ['from', 'since', 'status', 'company_id'] as const) {
    for (const text of ['', ...accepted[name]]) assert.equal(filterFault(name, text), null, text)
    for (const text of refused[name]) assert.match(filterFault(name, text) ?? '', new RegExp(`^${name} must be `), text)
  }
})
