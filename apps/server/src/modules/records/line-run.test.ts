import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPlan, someWorld } from '../../test-world.ts'
import { readLineRuns } from './line-run.ts'

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
