import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startRemoval } from '../../../server/src/modules/records/removals/removal.ts'
import { someAgent } from './testing/test-cycle.ts'

test('what the service hid wrongly, lost or has with other content is sent again in the cycle of the next full read', async (t) => {
  const agent = await someAgent(t, { plans: 6 })
  await agent.run()
  const location = (await agent.server.locations()).get('1') ?? assert.fail()
  const { pool } = agent.server.service
  const unlisted = (sourceIds: readonly string[]) => sourceIds.filter((sourceId) => sourceId === '2')
  const plans = { locationId: location.id, dataset: 'insurance_plans', reading: null, unlisted } as const
  assert.equal((await startRemoval({ pool, now: () => new Date(), log: () => {} }, plans)).state, 'done')
  await pool.query(`delete from record where source_id = '3' and dataset = 'insurance_plans'`)
  await pool.query(
    `update record set source_hash = decode(repeat('ab', 16), 'hex'), document = replace(document, 'Plan 4', 'Stale')
      where source_id = '4' and dataset = 'insurance_plans'`,
  )

  assert.equal((await agent.run(true)).result, 'complete')

  assert.deepEqual([...agent.plans()].map(([key, plan]) => [key, plan.plan_name]).sort(), [
    ['1', 'Plan 1'],
    ['2', 'Plan 2'],
    ['3', 'Plan 3'],
    ['4', 'Plan 4'],
    ['5', 'Plan 5'],
    ['6', 'Plan 6'],
  ])
  assert.deepEqual(
    agent.named('records.mistrusted').map(({ records }) => records),
    [3],
  )
  const uploads = (await agent.server.counts()).uploads
  await agent.run(true)
  assert.equal((await agent.server.counts()).uploads, uploads, 'once healed, nothing is sent')
})
