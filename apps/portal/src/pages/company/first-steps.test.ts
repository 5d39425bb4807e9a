import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepsOf } from './first-steps.ts'

const company = {
  owner: { name: 'Ana', email: 'ana@example.com' },
  agreement: { current_version: 1, accepted_version: null, is_in_force: false, required_at: null },
  key_pair: null,
  connections: { organizations: 0, locations: 0 },
}
const done = (of: Parameters<typeof stepsOf>[0]) => stepsOf(of).map(({ isDone }) => isDone)

test('a new vendor has no step done, and the first step names who must accept', () => {
  assert.deepEqual(done(company), [false, false, false, false])
  assert.match(stepsOf(company)[0]?.text ?? '', /Ana/)
})

test('each step is done independently of the others', () => {
  const agreement = { ...company.agreement, accepted_version: 1, is_in_force: true }
  const unused = { client_id: 'bwc_x', created_at: '2026-11-21T08:00:00Z', last_used_at: null }
  assert.deepEqual(done({ ...company, agreement }), [true, false, false, false])
  assert.deepEqual(done({ ...company, agreement, key_pair: unused }), [true, true, false, false])
  const used = { ...unused, last_used_at: '2026-11-21T09:00:00Z' }
  assert.deepEqual(done({ ...company, key_pair: used, connections: { organizations: 1, locations: 2 } }), [
    false,
    true,
    true,
    true,
  ])
})
