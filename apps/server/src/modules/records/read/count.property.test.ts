import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import fc from 'fast-check'
import type { Pool } from 'pg'
import { createTestDatabase } from '../../../platform/database/testing/test-database.ts'
import type { AgentId, LocationId } from '../../../platform/identity/identity.ts'
import { aPlan, aRecord, aSchedule } from '../../../testing/test-world.ts'
import type { DatasetKey } from '../../datasets/dataset-state.ts'
import { createOrganization } from '../../directory/organization.ts'
import { createLocation } from '../../onboarding/upsert-locations.ts'
import { reconcile } from '../removals/reconcile.ts'
import { hideSlice } from '../removals/removal.ts'
import { confirmRemoval } from '../removals/removal-decision.ts'
import { addToRemoval, findCurrentRemoval, finishList, hashRemoval, insertRemoval } from '../removals/removal-store.ts'
import { findMiscounts } from '../testing/test-miscounts.ts'
import { addWriter } from '../testing/test-writer.ts'
import { spanRecordsMax, takeTurn } from '../write/turn.ts'
import { storeUpload } from '../write/upload.ts'

const runs = 12 * Number(process.env.BRIDGEWORK_TEST_RUNS ?? 1)
const [schedules, plans, patients, appointments] = datasetNames as [DatasetName, DatasetName, DatasetName, DatasetName]

/** A record's values, or null: it was removed. */
type Values = { value: number; target: number; week: number | null } | null
type Step =
  | { kind: 'upload'; dataset: DatasetName; records: { key: number; values: Values }[] }
  | { kind: 'list'; dataset: DatasetName; keys: number[] }
  | { kind: 'new span' }
  | { kind: 'large removal'; keys: number[] }

const values = fc.record({
  value: fc.integer({ min: 1, max: 3 }),
  target: fc.integer({ min: 0, max: 2 }),
  week: fc.option(fc.integer({ min: 2900, max: 2903 }), { freq: 4 }),
})
const records = (keysMax: number) =>
  fc.uniqueArray(fc.record({ key: fc.integer({ min: 0, max: keysMax }), values: fc.option(values, { freq: 4 }) }), {
    minLength: 1,
    maxLength: keysMax,
    selector: ({ key }) => key,
  })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: upload(12, plans, appointments) },
  // What the others show of these is rendered again.
  { weight: 2, arbitrary: upload(2, schedules, patients) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('list' as const),
      dataset: fc.constantFrom(plans, appointments),
      keys: fc.uniqueArray(fc.integer({ min: 0, max: 12 }), { minLength: 5 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'new span' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('large removal' as const),
      keys: fc.uniqueArray(fc.integer({ min: 0, max: 12 }), { minLength: 1 }),
    }),
  },
)

test('what writers count is what is there, after any uploads, removals, returns, complete lists and renderings', async (t) => {
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const { pool } = await createTestDatabase(t)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24 }), async (steps) => {
      const locationId = await aLocation(pool)
      for (const each of steps) {
        await take(pool, locationId, each)
        assert.deepEqual(await findMiscounts(pool), [])
      }
    }),
    { seed, numRuns: runs, endOnFailure: true },
  )
})

function upload(keysMax: number, ...names: DatasetName[]): fc.Arbitrary<Step> {
  return fc.record({
    kind: fc.constant('upload' as const),
    dataset: fc.constantFrom(...names),
    records: records(keysMax),
  })
}

let number = 0

async function take(pool: Pool, locationId: LocationId, each: Step): Promise<void> {
  number += 1
  const agentId = String(locationId) as AgentId
  if (each.kind === 'new span') {
    // As though the open span had taken all that it may hold.
    await pool.query('update dataset_state set span_records = $1 where location_id = $2', [spanRecordsMax, locationId])
  } else if (each.kind === 'large removal') {
    await removeInSlices(pool, { locationId, dataset: plans }, each.keys.map(String))
  } else if (each.kind === 'list') {
    const { dataset, keys } = each
    const listed = new Set(keys.map(String))
    const unlisted = (sourceIds: readonly string[]) => sourceIds.filter((each) => !listed.has(each))
    const list = { locationId, dataset, agentId, fence: '1', beganAtUpload: String(number), unlisted }
    const { hidden } = await reconcile({ pool, now: () => new Date(), log: () => {} }, list).catch(() => ({
      hidden: 0,
    }))
    const held = hidden === 0 ? await findCurrentRemoval(pool, { locationId, dataset }) : null
    if (held?.state === 'held') await confirmRemoval(pool, locationId, dataset, held.listHash)
  } else {
    const { dataset, records } = each
    const lines = records.map(({ key, values }) => ({
      sourceId: `${key}`,
      source: values && JSON.stringify(sourceOf(dataset, values)),
    }))
    const body = { locationId, dataset, agentId, fence: null, number: String(number), bodyHash: '00', lines }
    await storeUpload(pool, body, () => new Date())
  }
}

/** As though each slice could hold two records: a removal of these keys runs, and its slices are taken with uploads in between. */
async function removeInSlices(pool: Pool, key: DatasetKey, sourceIds: string[]): Promise<void> {
  const id = await insertRemoval(pool, key)
  await takeTurn(pool, key.locationId, key.dataset, async ({ client }) => {
    await addToRemoval(client, key, id, sourceIds)
    const listHash = await hashRemoval(client, key, id)
    await finishList(client, { ...key, id }, { state: 'running', listHash, visible: 0, heldAt: new Date() })
  })
  const values = { value: 2, target: 1, week: null }
  const records = [{ key: Number(sourceIds.at(-1)), values }]
  for (;;) {
    const removal = await findCurrentRemoval(pool, key)
    if (!removal) return
    await takeTurn(pool, key.locationId, key.dataset, (turn) => hideSlice(turn, removal, 2))
    await take(pool, key.locationId, { kind: 'upload', dataset: key.dataset, records })
    assert.deepEqual(await findMiscounts(pool), [])
  }
}

function sourceOf(dataset: DatasetName, { value, target, week }: NonNullable<Values>): object {
  if (dataset === schedules) return aSchedule({ name: `Schedule ${value}` })
  if (dataset === plans) return aPlan({ plan_name: `Plan ${value}`, fee_schedule_source_id: `${target}` })
  if (dataset === patients) return aRecord(patients, { last_name: `Name ${value}` })
  const startsAt = week === null ? null : new Date(week * 7 * 86_400_000 + value).toISOString()
  return aRecord(appointments, { starts_at: startsAt, patient_source_id: `${target}`, treatment_source_ids: [] })
}

async function aLocation(pool: Pool): Promise<LocationId> {
  const organization = await createOrganization(pool, { name: 'Practice' })
  const { id } = await createLocation(pool, organization.id, { sourceId: '0', name: 'Location' })
  await addWriter(pool, organization.id, id)
  return id
}
