import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filterOf, logsSearch } from './logs-search.ts'

test('an address with a view or outcome that does not exist shows the page as it is without', () => {
  assert.deepEqual(logsSearch({ view: 'all', outcome: 'x', route: 'plans' }), { route: 'plans' })
  assert.deepEqual(logsSearch({ view: 'errors', outcome: 'error' }), { view: 'errors', outcome: 'error' })
  assert.deepEqual(filterOf({ view: 'errors', outcome: 'error', status: '4xx' }), { outcome: 'error', status: '4xx' })
})
