import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planOf, sentStatements } from './apis/testing/test-plans.ts'
import { createHousekeeping } from './housekeeping.ts'
import { createProofAccess } from './modules/directory/domain-proof.ts'
import { checkConditions } from './modules/notices/notifier.ts'
import { findRemovalWork } from './modules/records/removals/removal-store.ts'
import { measureDue, searchUnpacked, takeDue } from './modules/records/segments/segment-due.ts'
import type { LocationId } from './platform/identity/identity.ts'
import { createLease } from './platform/loop/lease.ts'
import { analyzeFilled, fillPractices } from './testing/test-practices.ts'
import { someWorld } from './testing/test-world.ts'

test('no periodic statement looks at more rows than a slice of a thousand practices has, and those of each second at a few', async (t) => {
  const world = await someWorld(t)
  const { pool, ownerPool, log } = world
  const vendor = await world.addVendor([await world.addLocation()])
  await fillPractices(ownerPool, { count: 6_000, companyId: vendor.companyId })
  // All were looked at a moment ago.
  await pool.query(
    `insert into segment_due select location_id, dataset, now() + interval '9 seconds' from dataset_state where dataset = 'patients'`,
  )
  await pool.query('insert into segment_search (searched_to) values (null)')
  await ownerPool.query(`insert into removal (location_id, dataset, id, state)
    select location_id, dataset, gen_random_uuid(), 'kept' from dataset_state where dataset = 'patients'`)
  await analyzeFilled(ownerPool)
  await ownerPool.query('vacuum analyze segment_due, removal')
  const lease = createLease({ pool, name: 'installation', processId: crypto.randomUUID(), log })
  const housekeeping = createHousekeeping({ pool, log, proofAccess: createProofAccess() })
  const wrong: string[] = []
  const look = async (examinedMax: number, work: () => Promise<unknown>) => {
    for (const statement of await sentStatements(t, work)) {
      const { examined } = await planOf(ownerPool, statement)
      if (examined > examinedMax)
        wrong.push(`${examined} rows: ${statement.text.replaceAll(/\s+/g, ' ').slice(0, 200)}`)
    }
  }

  await look(10, async () => {
    assert.equal(await takeDue(pool, { checkMs: 15_000, staleMs: 15_000 }), null)
    assert.equal(await searchUnpacked(pool, 250), false)
    await findRemovalWork(pool, '0' as LocationId)
    await lease.start()
  })
  await lease.stop()
  await look(7_500, async () => {
    await measureDue(pool)
    await housekeeping.run()
    await checkConditions(
      {
        ...{ pool, log, secretKey: world.secretKey, publicUrl: 'https://bridgework.example', contact: 'write' },
        now: () => new Date(),
        freeShare: async () => 1,
      },
      null,
    )
  })
  assert.deepEqual(wrong, [])
  assert.deepEqual(
    world.events.filter(({ event }) => event === 'task.failed'),
    [],
  )
})
