import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import fc from 'fast-check'
import type { Pool } from 'pg'
import { deltaOverlapMicros, formatMicros, type Stamp } from '../../../modules/datasets/stamp.ts'
import { takeTurn } from '../../../modules/records/write/turn.ts'
import { createPool } from '../../../platform/database/pool.ts'
import { searchPath } from '../../../platform/database/schemas.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import { type Body, someWorld, type TestVendor, type TestWorld } from '../../../testing/test-world.ts'

/** `BRIDGEWORK_TEST_RUNS` times as many runs: the soak's way to the full count. */
const runs = 2 * Number(process.env.BRIDGEWORK_TEST_RUNS ?? 1)

type Script = typeof script extends fc.Arbitrary<infer Each> ? Each : never

const processes = 3
/** `holdMs`: how long a turn stays open after it drew its stamp, `pauseMs` how long its writer rests before. */
const turn = fc.record({
  dataset: fc.nat(datasetNames.length - 1),
  location: fc.nat(2),
  pauseMs: fc.constantFrom(0, 0, 5, 40),
  holdMs: fc.constantFrom(0, 0, 1, 10, 60, 400, 1_000),
})
/** The clock is by so much wrong from now on, or all machines stood still for so long, in milliseconds; or the writing sessions of a process end. */
const disturbance = fc.oneof(
  fc.record({ kind: fc.constant('clock' as const), by: fc.integer({ min: -5_000, max: 5_000 }), afterMs: fc.nat(400) }),
  fc.record({
    kind: fc.constant('pause' as const),
    by: fc.integer({ min: 30_000, max: 90_000 }),
    afterMs: fc.nat(400),
  }),
  fc.record({ kind: fc.constant('kill' as const), process: fc.nat(processes - 1), afterMs: fc.nat(400) }),
)
const script = fc.record({
  writers: fc.array(fc.array(turn, { minLength: 2, maxLength: 7 }), { minLength: 6, maxLength: 9 }),
  disturbances: fc.array(disturbance, { minLength: 4, maxLength: 8 }),
  readers: fc.array(
    fc.record({
      items: fc.constantFrom(1, 2, 5_000),
      wait: fc.constantFrom(0, 1),
      pauseMs: fc.constantFrom(0, 20, 150),
    }),
    { minLength: 3, maxLength: 3 },
  ),
})

test('P23: whatever order commits come in, with clocks that jump by 5 s, machines that stand still and sessions that are killed, a reader that keeps its cursor sees each change', async (t) => {
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const service = await someProcesses(t)
  await fc.assert(
    fc.asyncProperty(script, (generated) => play(service, generated)),
    { seed, numRuns: runs, endOnFailure: true },
  )
})

type Service = Awaited<ReturnType<typeof someProcesses>>

/** Three server processes' worth of pools and servers on one database, whose clock the test sets. */
async function someProcesses(t: TestContext) {
  const clockless = await someWorld(t)
  await makeClock(clockless)
  const settings = { search_path: `set_clock, pg_catalog, ${searchPath}` }
  const servers = []
  for (let index = 0; index < processes; index += 1) {
    const pool = createPool(clockless.serverUrl, {
      ...{ max: 8, log: () => {}, settings },
      applicationName: `process ${index}`,
    })
    t.after(() => pool.end())
    servers.push({ pool, ...(await clockless.anotherServer({ pool, controlPool: pool })) })
  }
  const locations = [await clockless.addLocation(), await clockless.addLocation(), await clockless.addLocation()]
  const vendor = await clockless.addVendor(locations)
  for (const { id } of locations)
    for (const dataset of datasetNames) await vendor.get(`/locations/${id}/${dataset}?items=1`)
  return { world: clockless, servers, vendor, locationIds: locations.map(({ id }) => id), aheadMs: 0 }
}

/**
 * A clock in the place of PostgreSQL's own, also for the beginnings of transactions, each by the clock of its moment. Sessions that name its schema first
 * see it.
 */
async function makeClock({ ownerPool }: TestWorld): Promise<void> {
  await ownerPool.query(
    `create schema set_clock;
     create table set_clock.jump (at timestamptz not null, by interval not null);
     create function set_clock.set_by(moment timestamptz) returns timestamptz language sql volatile as
       'select moment + coalesce((select by from set_clock.jump where at <= moment order by at desc limit 1), interval ''0'')';
     create function set_clock.clock_timestamp() returns timestamptz language sql volatile as
       'select set_clock.set_by(pg_catalog.clock_timestamp())';
     create function set_clock.statement_timestamp() returns timestamptz language sql volatile as
       'select set_clock.set_by(pg_catalog.statement_timestamp())';
     create view set_clock.pg_stat_activity as
       select datname, pid, backend_xid, set_clock.set_by(xact_start) as xact_start from pg_catalog.pg_stat_activity;
     grant usage on schema set_clock to public;
     grant select on all tables in schema set_clock to public`,
  )
}

async function play(service: Service, { writers, disturbances, readers }: Script): Promise<void> {
  const { world, servers, locationIds } = service
  const committed = new Map<string, Stamp>()
  let isOver = false
  const write = async (turns: (typeof writers)[number], index: number) => {
    const pool = servers[index % processes]?.pool ?? assert.fail()
    for (const { dataset, location, pauseMs, holdMs } of turns) {
      await sleep(pauseMs)
      await writeOnce(
        pool,
        locationIds[location] ?? assert.fail(),
        datasetNames[dataset] ?? assert.fail(),
        holdMs,
        committed,
      )
    }
  }
  const disturb = async () => {
    for (const each of disturbances) {
      await sleep(each.afterMs)
      if (each.kind === 'pause') service.aheadMs += each.by
      if (each.kind !== 'kill')
        await world.ownerPool.query('insert into set_clock.jump values (clock_timestamp(), $1)', [
          `${service.aheadMs + (each.kind === 'clock' ? each.by : 0)} milliseconds`,
        ])
      else
        await world.pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and backend_xid is not null`,
          [`process ${each.process}`],
        )
    }
  }
  const reading = readers.map((reader, index) => follow(service, servers[index]?.url ?? '', reader, () => isOver))
  await Promise.all([...writers.map(write), disturb()])
  isOver = true
  for (const seen of await Promise.all(reading)) {
    for (const [key, stamp] of committed) {
      const watermark = formatMicros(stamp + deltaOverlapMicros)
      assert.ok((seen.get(key) ?? '') >= watermark, `${key}: ${seen.get(key)} was seen, ${watermark} was committed`)
    }
  }
}

/** A turn that changes nothing but the stamp, and stays open for a while. One that is killed is not counted. */
async function writeOnce(
  pool: Pool,
  locationId: LocationId,
  dataset: DatasetName,
  holdMs: number,
  committed: Map<string, Stamp>,
): Promise<void> {
  try {
    const stamp = await takeTurn(pool, locationId, dataset, async (held) => {
      const drawn = held.stamp(dataset)
      await held.client.query('select pg_sleep($1)', [holdMs / 1000])
      return drawn
    })
    const key = `${locationId}/${dataset}`
    committed.set(key, Math.max(stamp, committed.get(key) ?? 0))
  } catch (error) {
    assert.match(String(error), /terminat|Connection|another upload|busy/i)
  }
}

/** Reads everything once, then changes by its cursor alone. Gives the latest watermark of each dataset that it was told. */
async function follow(
  { world, vendor }: { world: TestWorld; vendor: TestVendor },
  on: string,
  { items, wait, pauseMs }: { items: number; wait: number; pauseMs: number },
  isOver: () => boolean,
): Promise<Map<string, string>> {
  const seen = new Map<string, string>()
  const headers = { authorization: `Bearer ${await vendor.token()}` }
  let after: string | null = null
  let isFirst = true
  for (let rounds = 2; rounds > 0; ) {
    const wasOver = isOver()
    const query = new URLSearchParams({
      items: String(isFirst ? 5_000 : items),
      wait: String(wait),
      ...(after && { after }),
    })
    const answer = await world.request(`/api/v1/vendors/changes?${query}`, { on, headers })
    // Its session was killed: asked again, with the same cursor.
    if (answer.status === 503 || answer.status === 500) continue
    assert.equal(answer.status, 200, answer.text)
    const { data, meta } = answer.body as unknown as Changes
    assert.equal(meta.is_whole, isFirst, 'nothing is seen because everything is read again')
    for (const { type, id, attributes } of data) {
      if (type !== 'dataset') continue
      const watermark = attributes.next_fetch_modified_since
      if (watermark > (seen.get(id) ?? '')) seen.set(id, watermark)
    }
    after = meta.next_after
    isFirst = isFirst && meta.has_more
    if (wasOver && !meta.has_more) rounds -= 1
    await sleep(pauseMs)
  }
  return seen
}

type Changes = {
  data: { type: string; id: string; attributes: { next_fetch_modified_since: string } }[]
  meta: Body['meta'] & { is_whole: boolean }
}
