import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outdatedPostgres } from './postgres-version.ts'

test('a PostgreSQL is out of date by its minor version and after its last day, and a newer one is not', () => {
  const now = new Date('2026-11-10T12:00:00Z')
  assert.equal(outdatedPostgres(180004, now), null)
  assert.equal(outdatedPostgres(180009, now), null)
  assert.equal(outdatedPostgres(190000, now), null)
  assert.match(outdatedPostgres(170009, now) ?? '', /^PostgreSQL 17\.9 is older than 17\.10/)
  assert.equal(outdatedPostgres(140023, now), null)
  assert.match(outdatedPostgres(140023, new Date('2026-11-13T12:00:00Z')) ?? '', /not supported since 2026-11-12/)
  assert.match(outdatedPostgres(120022, now) ?? '', /is not supported any more/)
})
