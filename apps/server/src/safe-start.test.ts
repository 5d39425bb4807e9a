import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOrganization } from './modules/directory/organization.ts'
import { createTestDatabase } from './platform/database/testing/test-database.ts'
import type { LogEvent } from './platform/log/log-event.ts'
import { requireSafeStart, UnsafeStart } from './safe-start.ts'
import { demoReference } from './sandbox/demo.ts'

test('K14: production starts with a role that cannot change disclosures and without demo data; the sandbox warns of the role alone', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  const events: LogEvent[] = []
  const start = async (role: typeof pool, environment: 'production' | 'sandbox') => {
    // Of the settings only this one is read.
    await requireSafeStart(
      role,
      { environment } as Parameters<typeof requireSafeStart>[1],
      (event) => void events.push(event),
    )
  }

  await start(pool, 'production')
  await start(pool, 'sandbox')
  assert.deepEqual(events, [])
  await assert.rejects(start(ownerPool, 'production'), UnsafeStart)
  await start(ownerPool, 'sandbox')
  assert.deepEqual(
    events.map(({ event }) => event),
    ['server.warning'],
  )
  await createOrganization(pool, { name: 'Practice' })
  await start(pool, 'production')
  await createOrganization(pool, { name: 'Demo practice', externalReference: demoReference })
  await assert.rejects(start(pool, 'production'), UnsafeStart)
  await start(pool, 'sandbox')
})
