import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { volumeSize } from '@bridgework/practice-simulator'
import type { Pool } from 'pg'
import { operatorOn, secretKey } from '../apis/operator/testing/test-operator.ts'
import type { Config } from '../config.ts'
import { ensureFirstAgreement } from '../modules/credentials/agreement.ts'
import { listGrants } from '../modules/overview/grant.ts'
import { createTestDatabase } from '../platform/database/testing/test-database.ts'
import { requireSafeStart, UnsafeStart } from '../safe-start.ts'
import { populate } from './populate.ts'

const nowhere = 'http://127.0.0.1:1'
const shape = { seed: 'test', locations: 3, patients: 40 }

async function someDatabase(t: TestContext) {
  const { pool } = await createTestDatabase(t)
  await ensureFirstAgreement(pool)
  return pool
}

test('a volume is stored whole, with every reference resolved, complete for each location and open to the demo vendor', async (t) => {
  const pool = await someDatabase(t)
  const reported: number[] = []
  const deps = { pool, secretKey, serverUrl: nowhere, signal: new AbortController().signal }

  const answer = await populate(deps, shape, (stored) => reported.push(stored))

  assert.deepEqual([answer.records, answer.isComplete, answer.through], [volumeSize(shape), true, 'this process'])
  assert.deepEqual(reported.at(-1), volumeSize(shape))
  const { rows: counts } = await pool.query<{ locations: number; total: number; synced: number }>(
    `select count(distinct s.location_id)::int as locations, sum(s.total)::int as total,
            count(s.initial_sync_completed_at)::int as synced
       from dataset_state s join location l on l.id = s.location_id where l.organization_id = $1`,
    [answer.organizationId],
  )
  assert.deepEqual(counts[0], { locations: 3, total: volumeSize(shape), synced: 3 * datasetNames.length })
  const { rows: waiting } = await pool.query(
    `select record_id from record_reference where target_dataset <> 'fee_schedules' limit 1`,
  )
  assert.deepEqual(waiting, [])
  const grants = await listGrants(pool, { organizationId: answer.organizationId })
  assert.deepEqual(grants.map(({ dataset }) => dataset).sort(), [...datasetNames].sort())
})

test('a database that is too slow for an upload gets it again, and has it once', async (t) => {
  const pool = await someDatabase(t)
  let transactions = 0
  const slow: Pool = new Proxy(pool, {
    get: (target, name) => {
      if (name !== 'connect') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name)
      return async () => {
        transactions += 1
        if (transactions === 12) throw Object.assign(new Error('transaction timeout'), { code: '25P04' })
        return await pool.connect()
      }
    },
  })
  const deps = { pool: slow, secretKey, serverUrl: nowhere, signal: new AbortController().signal }

  const answer = await populate(deps, shape, () => {})

  assert.deepEqual([answer.records, answer.isComplete], [volumeSize(shape), true])
  const { rows } = await pool.query('select count(*)::int as n from record')
  assert.equal(rows[0]?.n, volumeSize(shape))
  assert.ok(transactions > 12)
})

test('when it is stopped it ends soon, and says that something is missing', async (t) => {
  const pool = await someDatabase(t)
  const stopping = new AbortController()
  const deps = { pool, secretKey, serverUrl: nowhere, signal: stopping.signal }
  const answer = await populate(deps, shape, () => stopping.abort())
  assert.equal(answer.isComplete, false)
  assert.ok(answer.records < volumeSize(shape))
})

test('production neither makes invented data nor starts on a database that holds some', async (t) => {
  const pool = await someDatabase(t)
  const run = (environment: Config['environment'], ...args: string[]) =>
    operatorOn(pool, { environment, localUrl: nowhere }).run(...args)
  const command = ['sandbox', 'populate', '--locations', '2', '--patients', '10']

  const refused = await run('production', ...command)
  assert.equal(refused.code, 1)
  assert.match(refused.err, /runs in the sandbox only/)
  assert.equal((await pool.query('select 1 from organization')).rowCount, 0)

  const made = await run('sandbox', ...command, '--json')
  assert.equal(made.code, 0, made.err)
  const data = JSON.parse(made.out)
  assert.deepEqual([data.locations, data.is_complete], [2, true])
  // Of the settings only the environment matters here.
  const config = { environment: 'production' } as Config
  await assert.rejects(
    requireSafeStart(pool, config, () => {}),
    (error) => {
      assert.ok(error instanceof UnsafeStart)
      assert.match(error.message, /demo practice/)
      return true
    },
  )
})
