import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { analyzeFilled, filledFrom, fillPractices } from '../../testing/test-practices.ts'
import { someWorld } from '../../testing/test-world.ts'
import { createInstallationSurvey } from './installation-survey.ts'

test('a survey goes over all locations, some at a time, and is kept where there are many', async (t) => {
  const world = await someWorld(t)
  const { pool, ownerPool } = world
  const { companyId } = await world.addVendor()
  await fillPractices(ownerPool, { count: 1_300, companyId, total: 3 })
  await analyzeFilled(ownerPool)
  const old = [filledFrom + 7, filledFrom + 1_299]
  const never = filledFrom + 1_100
  await ownerPool.query(`update location set office_hours = null where id >= $1`, [filledFrom])
  await ownerPool.query(
    `update dataset_state set synced_at = now() - interval '30 days' where location_id = any($1) and dataset = 'patients'`,
    [old],
  )
  await ownerPool.query(`update agent_contact set last_contact_at = now() - interval '30 days' where agent_id = $1`, [
    old[0],
  ])
  await ownerPool.query('delete from agent_contact where agent_id = $1', [old[1]])
  await ownerPool.query(
    `update dataset_state set initial_sync_completed_at = null where location_id = $1 and dataset = 'patients'`,
    [never],
  )
  const clock = { ms: 0 }
  const survey = createInstallationSurvey({ pool, now: () => new Date(), monotonicMs: () => clock.ms })

  const first = await survey()
  assert.deepEqual(first.freshness.counts, { current: 1_297, stale: 0, disconnected: 2, pending: 1, not_provided: 0 })
  assert.deepEqual(
    first.freshness.notCurrent.map(({ locationId, state }) => [Number(locationId), state]),
    [
      [old[0], 'disconnected'],
      [old[1], 'disconnected'],
      [never, 'pending'],
    ],
  )
  assert.deepEqual([first.locations, first.organizations], [1_300, 1_300])
  assert.deepEqual(first.agents, { connected: 1_298, silent: 1, never_heard: 1 })
  assert.equal(first.records, 1_300 * 3 * datasetNames.length)

  await ownerPool.query('update dataset_state set synced_at = now(), initial_sync_completed_at = now()')
  clock.ms += 649
  assert.equal(await survey(), first, 'half a millisecond for each location')
  clock.ms += 1
  assert.equal((await survey()).freshness.counts.current, 1_300)
})

test('who asks while a survey is made gets the same one; a small installation is surveyed each time', async (t) => {
  const world = await someWorld(t)
  await world.addLocation()
  const survey = createInstallationSurvey({ pool: world.pool, now: () => new Date() })
  const [one, other] = await Promise.all([survey(), survey()])
  assert.equal(one, other)
  await world.addLocation()
  assert.deepEqual([one.locations, (await survey()).locations], [1, 2])
})
