import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import { createTestDatabase } from '../../../platform/database/testing/test-database.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import { aPlan } from '../../../testing/test-world.ts'
import { createOrganization } from '../../directory/organization.ts'
import { createLocation } from '../../onboarding/upsert-locations.ts'
import { findMiscounts } from '../testing/test-miscounts.ts'
import { copyRecords } from '../testing/test-volume.ts'
import { addWriter } from '../testing/test-writer.ts'
import { storeUpload } from '../write/upload.ts'
import { reconcile } from './reconcile.ts'
import { mustBeHeld } from './removal.ts'
import { confirmRemoval, listHeldRecords, rejectRemoval } from './removal-decision.ts'
import { dropBrokenLists, dropWaitingRemovals, findCurrentRemoval, listKept, listRemovals } from './removal-store.ts'
import { removeSlice } from './remover.ts'

const plans = datasetNames[1] as DatasetName
const log = () => {}
const now = () => new Date()
/** A location with so many plans, p0 and on, and what an agent, a person and the remover do with them. */
async function somePlans(pool: Pool, count: number) {
  const organization = await createOrganization(pool, { name: 'Practice' })
  const location = await createLocation(pool, organization.id, { sourceId: '0', name: 'Location' })
  const key = { locationId: location.id, dataset: plans }
  const agentId = await addWriter(pool, organization.id, location.id)
  let number = 0
  const upload = (records: Record<string, object | null>) => {
    number += 1
    const lines = Object.entries(records).map(([sourceId, source]) => ({
      sourceId,
      source: source && JSON.stringify(source),
    }))
    return storeUpload(pool, { ...key, agentId, fence: null, number: String(number), bodyHash: '00', lines }, now)
  }
  /** An upload that names neighbours, and knows them by its body. */
  const uploadKnown = async (sourceIds: readonly string[]) => {
    number += 1
    const { rows } = await pool.query<{ first: string; last: string; stamp: string }>(
      `select min(id) as first, max(id) as last, max(last_stamp) as stamp
         from record
         join dataset_state using (location_id, dataset)
        where location_id = $1 and dataset = $2 and source_id = any($3)`,
      [key.locationId, key.dataset, sourceIds],
    )
    const { first, last, stamp } = rows[0] ?? assert.fail()
    const neighbours = { firstId: first, lastId: last, records: sourceIds.length, recordsSha256: '' }
    const asStored = { sent: [], neighbours, stamp: Number(stamp) }
    const upload = { ...key, agentId, fence: null, number: String(number), bodyHash: '00', lines: [], asStored }
    return storeUpload(pool, upload, now)
  }
  const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `p${from + index}`)
  const plansOf = (sourceIds: string[]) => Object.fromEntries(sourceIds.map((id) => [id, aPlan()]))
  await upload(plansOf(['p0']))
  await copyRecords(pool, key, count)
  const list = (sourceIds: readonly string[], beganAtUpload = number + 1, on = pool) => {
    const listed = new Set(sourceIds)
    return reconcile(
      { pool: on, now, log },
      {
        ...key,
        agentId,
        fence: '1',
        beganAtUpload: String(beganAtUpload),
        unlisted: (visible) => visible.filter((each) => !listed.has(each)),
      },
    )
  }
  const current = async () => (await findCurrentRemoval(pool, key)) ?? assert.fail('no removal')
  const confirm = async () => confirmRemoval(pool, location.id, plans, (await current()).listHash)
  const visible = async () => {
    const { rows } = await pool.query<{ source_id: string }>(
      'select source_id from record where location_id = $1 and not is_hidden order by id',
      [location.id],
    )
    return rows.map((row) => row.source_id)
  }
  const slice = () => removeSlice({ pool, log, now })
  return {
    key,
    locationId: location.id as LocationId,
    upload,
    uploadKnown,
    ids,
    plansOf,
    list,
    current,
    confirm,
    visible,
    slice,
  }
}

async function count(pool: Pool, table: string): Promise<number> {
  return (await pool.query<{ n: number }>(`select count(*)::integer as n from ${table}`)).rows[0]?.n ?? -1
}

test('K08: a removal of too much waits for a person, who confirms what has not come back since, changed or unchanged', async (t) => {
  const { pool } = await createTestDatabase(t)
  const { key, locationId, upload, plansOf, list, current, confirm, visible } = await somePlans(pool, 30)

  await assert.rejects(list([]), { code: 'removal_held' })
  const held = await current()
  assert.partialDeepStrictEqual(held, { ...key, state: 'held', remaining: 30, visible: 30 })
  const { answer } = await upload({ p7: aPlan({ plan_name: 'Back again' }), ...plansOf(['p8', 'p9']) })
  assert.deepEqual(answer, { inserted: 0, changed: 1, unchanged: 2, hidden: 0 })
  assert.equal((await current()).remaining, 27)
  const shown = await listHeldRecords(pool, held, 100)
  assert.ok(shown.length === 27 && !shown.some(({ sourceId }) => ['p7', 'p8', 'p9'].includes(sourceId)))

  assert.deepEqual(await confirm(), { hidden: 27, remaining: 0 })
  assert.deepEqual(await visible(), ['p7', 'p8', 'p9'])
  await assert.rejects(confirmRemoval(pool, locationId, plans, held.listHash), { code: 'removal_unknown' })
  assert.deepEqual([await count(pool, 'removal'), await count(pool, 'removal_record')], [0, 0])
})

test('K08: what an upload knows by a run has come back too, and is not missing in the list of its reading', async (t) => {
  const { pool } = await createTestDatabase(t)
  const { key, uploadKnown, ids, list, current, visible } = await somePlans(pool, 30)
  await assert.rejects(list([]), { code: 'removal_held' })
  assert.deepEqual((await uploadKnown(ids(7, 10))).answer, { inserted: 0, changed: 0, unchanged: 3, hidden: 0 })
  assert.equal((await current()).remaining, 27)
  const shown = await listHeldRecords(pool, await current(), 100)
  assert.deepEqual(shown.map(({ sourceId }) => sourceId).toSorted(), [...ids(0, 7), ...ids(10, 30)].toSorted())

  await uploadKnown(ids(19, 29))
  const { rows } = await pool.query<{ number: string }>('select max(number) as number from upload')
  assert.deepEqual(await list(ids(0, 19), Number(rows[0]?.number)), { hidden: 1 })
  assert.deepEqual(await visible(), ids(0, 29))
  assert.deepEqual(await listRemovals(pool, [key.locationId]), [])
})

test('a person confirms the list that was seen: another one is refused, the same one sent again is still that list', async (t) => {
  const { pool } = await createTestDatabase(t)
  const { locationId, list, ids, current, visible } = await somePlans(pool, 40)
  await assert.rejects(list(ids(0, 20)), { code: 'removal_held' })
  const seen = await current()
  await assert.rejects(list(ids(0, 20)), { code: 'removal_held' })
  assert.deepEqual(await current(), seen)

  // As many records, but others.
  await assert.rejects(list(ids(1, 21)), { code: 'removal_held' })
  await assert.rejects(confirmRemoval(pool, locationId, plans, seen.listHash), {
    code: 'removal_changed',
    errors: 'The list has changed since you saw it. It names 20 records now. Review it again, then decide.',
  })
  assert.equal((await visible()).length, 40)
  const done = await confirmRemoval(pool, locationId, plans, (await current()).listHash)
  assert.deepEqual([done, await visible()], [{ hidden: 20, remaining: 0 }, ids(1, 21)])
})

test('a list that misses less ends the wait', async (t) => {
  const { pool } = await createTestDatabase(t)
  const { list, ids, slice } = await somePlans(pool, 40)
  await assert.rejects(list([]), { code: 'removal_held' })
  assert.deepEqual(await list(ids(1, 40)), { hidden: 1 })
  assert.deepEqual(await listRemovals(pool, null), [])
  while (await slice()) {}
  assert.deepEqual([await count(pool, 'removal'), await count(pool, 'removal_record')], [0, 0])
})

test('what a person keeps is not missing any more, and what else goes is decided by itself', async (t) => {
  const { pool } = await createTestDatabase(t)
  const { key, list, ids, current, upload, plansOf, visible, slice } = await somePlans(pool, 100)
  const keep = async () => rejectRemoval(pool, { ...key, listHash: (await current()).listHash, now: now() })
  await assert.rejects(list(ids(0, 60)), { code: 'removal_held' })
  const { heldAt } = await current()
  await assert.rejects(list(ids(0, 59)), { code: 'removal_held' })
  assert.deepEqual((await current()).heldAt, heldAt, 'another list of the same wait')
  await keep()

  assert.deepEqual(await list(ids(0, 59)), { hidden: 0 })
  assert.deepEqual(await list(ids(0, 55)), { hidden: 4 }, 'four of 59, and none of the 41 that are kept')
  await assert.rejects(list(ids(0, 35)), { code: 'removal_held' })
  assert.partialDeepStrictEqual(await current(), { remaining: 20, visible: 55 })
  await keep()
  assert.deepEqual(
    (await listKept(pool, [key.locationId])).map(({ remaining }) => remaining),
    [41, 20],
  )
  assert.equal((await visible()).length, 96)

  // What is back ends its part of the decision: it is missing like any other record when it goes again.
  await upload(plansOf(ids(59, 100)))
  assert.deepEqual(
    (await listKept(pool, [key.locationId])).map(({ remaining }) => remaining),
    [20],
  )
  assert.deepEqual(await list([...ids(0, 35), ...ids(59, 99)]), { hidden: 1 })
  assert.equal((await visible()).length, 95)
  while (await slice()) {}
  assert.deepEqual([await count(pool, 'removal'), await count(pool, 'removal_record')], [1, 20])
})

test('a kept list of many is written once, and closing the location ends the decision', async (t) => {
  const { pool } = await createTestDatabase(t)
  const { key, list, current, visible, slice } = await somePlans(pool, 6_000)
  await assert.rejects(list([]), { code: 'removal_held' })
  await rejectRemoval(pool, { ...key, listHash: (await current()).listHash, now: now() })
  assert.deepEqual(await list([]), { hidden: 0 })
  while (await slice()) {}
  assert.deepEqual([(await visible()).length, await count(pool, 'removal')], [6_000, 1])
  await dropWaitingRemovals(pool, [key.locationId])
  await assert.rejects(list([]), { code: 'removal_held' })
})

test('a removal is held from a fifth and ten records on, or when it leaves nothing', () => {
  assert.deepEqual(
    [mustBeHeld(0, 0), mustBeHeld(0, 5), mustBeHeld(9, 20), mustBeHeld(10, 50), mustBeHeld(21, 100)],
    [false, false, false, false, true],
  )
  assert.deepEqual([mustBeHeld(1, 1), mustBeHeld(3, 3), mustBeHeld(11, 50)], [true, true, true])
})

test('a large removal is carried out in slices, each with its own stamp, by whichever process', async (t) => {
  const { pool } = await createTestDatabase(t)
  const { list, ids, upload, plansOf, current, visible, slice } = await somePlans(pool, 61_000)

  assert.deepEqual(await list(ids(12_000, 61_000)), { hidden: 0, remaining: 12_000 })
  assert.deepEqual(
    await list(ids(12_000, 61_000)),
    { hidden: 0, remaining: 12_000 },
    'a list that it covers changes nothing',
  )
  await assert.rejects(list(ids(12_001, 61_000)), { code: 'busy' }, 'what else is missing waits until it is done')
  await Promise.all([slice(), slice()])
  assert.partialDeepStrictEqual(await current(), { state: 'running', hidden: 10_000, remaining: 2_000 })
  // p9999 comes last by the order of the characters.
  await upload({ ...plansOf(['p9999']), p2: aPlan({ plan_name: 'Back again' }) })
  while (await slice()) {}

  const left = await visible()
  assert.deepEqual([left.length, left.slice(0, 2)], [49_002, ['p2', 'p9999']])
  const { rows } = await pool.query('select count(distinct modified_at)::integer as stamps from record where is_hidden')
  assert.equal(rows[0]?.stamps, 3)
  assert.deepEqual(await findMiscounts(pool), [])
  assert.deepEqual([await count(pool, 'removal'), await count(pool, 'removal_record')], [0, 0])
})

test('a confirmed removal of many hides the first 5,000 at once and goes on without the person', async (t) => {
  const { pool } = await createTestDatabase(t)
  const { locationId, list, confirm, current, visible, slice } = await somePlans(pool, 11_000)
  await assert.rejects(list([]), (error: unknown) => {
    assert.ok(error instanceof Problem)
    assert.deepEqual([error.code, error.members], ['removal_held', { missing: 11_000, visible: 11_000 }])
    return true
  })
  const seen = await current()
  await assert.rejects(list([]), { code: 'removal_held' })
  assert.deepEqual([await current(), await count(pool, 'removal')], [seen, 1], 'the same list is not written again')

  assert.deepEqual(await confirm(), { hidden: 5_000, remaining: 6_000 })
  assert.equal((await visible()).length, 6_000)
  await assert.rejects(
    rejectRemoval(pool, { locationId, dataset: plans, listHash: seen.listHash, now: now() }),
    { code: 'removal_unknown' },
    'what runs cannot be rejected any more',
  )
  while (await slice()) {}
  assert.deepEqual([await visible(), await count(pool, 'removal')], [[], 0])
})

test('a process that dies between any two statements loses no record of a removal and hides no other', async (t) => {
  const { pool } = await createTestDatabase(t)
  const { list, ids, visible, slice } = await somePlans(pool, 31_000)
  const isConsistent = async () => {
    assert.deepEqual(await findMiscounts(pool), [])
    const { rows } = await pool.query(
      `select visible - (select count(*) from record where not is_hidden) as visible,
              (select coalesce(sum(remaining), 0) from removal) - (select count(*) from removal_record) as remaining
         from dataset_state where visible > 0`,
    )
    assert.deepEqual(rows, [{ visible: '0', remaining: '0' }])
  }
  /** Tries with one statement more each time, until the process lives. Gives the number of deaths. */
  const untilAlive = async <T>(work: (mortal: Pool) => Promise<T>, step: number): Promise<number> => {
    for (let deaths = 0; ; deaths++) {
      const mortal = dying(pool, deaths * step)
      const isAlive = await work(mortal.pool).then(
        () => !mortal.isDead(),
        () => false,
      )
      await isConsistent()
      if (isAlive) return deaths
    }
  }

  // In steps: each try reads all records again.
  const deaths = await untilAlive((mortal) => list(ids(5_500, 31_000), 2, mortal), 4)
  assert.ok(deaths > 3, `${deaths}`)
  assert.equal((await visible()).length, 31_000)
  for (let sliced = 0; sliced < 2; sliced++) {
    const inSlice = await untilAlive((mortal) => removeSlice({ pool: mortal, log, now }), 2)
    assert.ok(inSlice > 3, `${inSlice}`)
  }
  assert.deepEqual((await visible()).sort(), ids(5_500, 31_000).sort())
  await pool.query(`update removal set created_at = now() - interval '2 hours'`)
  await dropBrokenLists(pool)
  while (await slice()) {}
  assert.deepEqual([await count(pool, 'removal'), await count(pool, 'removal_record')], [0, 0])
})

/** The same pool, of a process that dies after this many statements: the server ends its session, and nothing is tidied up. */
function dying(pool: Pool, statements: number): { pool: Pool; isDead: () => boolean } {
  let left = statements
  const livesOn = async (client: Pick<PoolClient, 'query'> | null) => {
    if (left-- > 0) return
    await client?.query('select pg_terminate_backend(pg_backend_pid())').catch(() => {})
    throw new Error('the process has died')
  }
  const connect = async () => {
    await livesOn(null)
    const client = await pool.connect()
    const query = async (...args: Parameters<PoolClient['query']>) => {
      await livesOn(client)
      return client.query(...args)
    }
    return { query, release: () => client.release(left < 0) }
  }
  const query = async (...args: Parameters<Pool['query']>) => {
    await livesOn(null)
    return pool.query(...args)
  }
  // Only connect and query are used of it.
  return { pool: { connect, query } as unknown as Pool, isDead: () => left < 0 }
}

test('a slice that fails is tried again later, and other locations’ removals go on meanwhile', async (t) => {
  const { pool, ownerPool } = await createTestDatabase(t)
  const [failing, other] = [await somePlans(pool, 30_000), await somePlans(pool, 30_000)]
  for (const { list, ids } of [failing, other]) await list(ids(5_500, 30_000))
  await ownerPool.query(
    `create function fail() returns trigger language plpgsql as $$ begin raise exception 'bad'; end $$`,
  )
  await ownerPool.query(
    `create trigger fail before update on record for each row when (new.location_id = ${failing.locationId}) execute function fail()`,
  )
  const { rows } = await pool.query<{ begun_at: Date }>('select now() as begun_at')
  do await failing.slice()
  while ((await failing.current()).attempts === 0)
  // The next attempt is due in a second, which is less than a busy machine may need for the other location.
  const { rowCount } = await pool.query(
    `update removal set attempts = 11, next_attempt_at = next_attempt_at + interval '10 minutes'
      where attempts = 1 and next_attempt_at >= $1::timestamptz + interval '1 second'`,
    [rows[0]?.begun_at],
  )
  assert.equal(rowCount, 1)
  while (await failing.slice()) {}
  assert.equal((await other.visible()).length, 24_500)
  assert.partialDeepStrictEqual(await failing.current(), { attempts: 11, lastError: 'P0001', remaining: 5_500 })
  await ownerPool.query('drop trigger fail on record')
  await pool.query('update removal set next_attempt_at = now()')
  while (await failing.slice()) {}
  assert.equal((await failing.visible()).length, 24_500)
})
