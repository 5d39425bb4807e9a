import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPlan, someWorld } from '../../test-world.ts'
import { hashSource } from './document.ts'
import { hashRecords, readLineRuns, saveLineRuns } from './line-run.ts'

const plans = (from: number, to: number, step = 1) =>
  Object.fromEntries(
    Array.from({ length: (to - from) / step }, (_, index) => {
      const number = from + index * step
      return [`p${number}`, aPlan({ plan_name: `Plan ${number}` })]
    }),
  )

test('of records that are not neighbours no run is stored, and a new run takes the place of those that begin in it', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const read = (bytes = 10_000_000) => readLineRuns(world.pool, location.id, 'insurance_plans', { afterId: '0' }, bytes)
  const sizes = async () => (await read()).runs.map((run) => run.records)

  await location.upload('insurance_plans', plans(0, 400))
  const whole = await sizes()
  assert.equal(
    whole.reduce((sum, each) => sum + each, 0),
    400,
  )
  await location.upload('insurance_plans', plans(0, 400, 2))
  assert.deepEqual(await sizes(), whole)

  const [first = 0] = whole
  const renamed = aPlan({ plan_name: 'Renamed' })
  const changes = Object.fromEntries(['p30', 'p130', 'p260', 'p390'].map((key) => [key, renamed]))
  await location.upload('insurance_plans', changes)
  await location.upload('insurance_plans', { ...plans(20, 400), ...changes })
  const starts = (await read()).runs.map((run) => run.firstSourceId)
  assert.equal(starts[0], 'p20')
  assert.ok(!starts.includes(`p${first}`), `of ${first}: ${starts}`)

  // What is read next begins behind all runs that were read, also where one ends within another.
  const { lastId } = await read(1)
  await world.pool.query('update line_run set last_id = last_id + 1000 where location_id = $1 and last_id = $2', [
    location.id,
    lastId,
  ])
  assert.equal((await read(40_000)).lastId, String(Number(lastId) + 1_000))
})

test('while PostgreSQL has no statistics, as in a first sync, an upload’s runs are stored without reading the dataset for each', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  await location.upload('insurance_plans', plans(0, 6_000))
  const client = await world.ownerPool.connect()
  t.after(() => client.release())
  await client.query('begin')
  const { rows: stored } = await client.query<{ source_id: string; hash: string }>(
    `select source_id, encode(source_hash, 'hex') as hash from record where location_id = $1 and dataset = 'insurance_plans' order by id`,
    [location.id],
  )
  const runs = Array.from({ length: 60 }, (_, index) => {
    const records = stored.slice(index * 100, (index + 1) * 100)
    const sourceIds = records.map((record) => record.source_id)
    const hashes = records.map((record) => record.hash).join('')
    return {
      firstSourceId: sourceIds[0] ?? '',
      lastSourceId: sourceIds.at(-1) ?? '',
      records: 100,
      bytes: 32_000 + index,
      sha256: hashSource(hashes).repeat(2),
      recordsSha256: hashRecords(sourceIds, hashes),
    }
  })
  const read = async () => {
    const { rows } = await client.query<{ rows: string }>(
      `select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables where relname = 'record'`,
    )
    return Number(rows[0]?.rows)
  }
  const before = await read()
  await saveLineRuns(client, location.id, 'insurance_plans', runs)
  const rowsRead = (await read()) - before
  assert.equal((await client.query('select from line_run where bytes between 32000 and 32059')).rowCount, 60)
  await client.query('rollback')
  // Each record once for its run, and the whole dataset at most once to find the ends of all runs.
  assert.ok(rowsRead <= 2 * 6_000 + 120, `${rowsRead} rows`)
})
