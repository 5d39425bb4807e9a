import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateMirror, generateRecords, mirrorFile, recordsFile } from '../../scripts/generate-mirror.ts'
import type { StoreEvent } from '../stores/layout.ts'
import { assertEqualCopy, openStore, someTarget } from '../sync/testing/test-mirror.ts'
import { livePractices } from '../sync/testing/test-practices.ts'
import { assertTypedRows, openMirror } from '../sync/testing/test-typed-rows.ts'
import { aRecord, aSchedule, clientOf, someClient } from '../testing/test-client.ts'
import { seededRandom, someMishap, startProxy } from '../testing/test-proxy.ts'
import { placeOf, someFolder, startPython } from './testing/test-python.ts'

const kinds = ['sqlite', 'postgres'] as const

/** The soak sets it to more. */
const killsOfEach = Number(process.env.BRIDGEWORK_TEST_PYTHON_KILLS ?? 2)
const seed = Number(process.env.BRIDGEWORK_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

test('what the Python package has of the mirror and of records is what is defined here', () => {
  assert.equal(readFileSync(mirrorFile, 'utf8'), generateMirror(), 'run npm run generate -w packages/client, twice')
  assert.equal(readFileSync(recordsFile, 'utf8'), generateRecords(), 'run npm run generate -w packages/client')
})

for (const kind of kinds) {
  test(`a ${kind} mirror of the Python client has the tables, views and rows of this one, and each goes on with the other’s`, async (t) => {
    const { world, vendor, client, location } = await someClient(t)
    const config = someFolder(t)
    const schedules = Array.from({ length: 5 }, (_, index) => [`s${index}`, aSchedule()])
    await location.upload('fee_schedules', Object.fromEntries(schedules))
    for (const dataset of ['patients', 'appointments', 'treatments', 'ledger_transactions', 'patient_referrals'])
      await location.upload(dataset, { r1: aRecord(dataset), r2: aRecord(dataset) })
    await location.upload('patients', { odd: aRecord('patients', { last_name: `O'Brien "\\' %s $1 é 😀 \u0001` }) })
    const [theirs, ours] = [await someTarget(t, kind), await someTarget(t, kind)]
    const python = async (copy: string, ...args: string[]) => {
      const options = { url: world.url, vendor, config }
      const { code, err } = await startPython(t, ['mirror', '--to', placeOf(kind, copy), ...args], options).ended
      assert.equal(code, 0, err)
      return err
    }

    assert.match(await python(theirs), / 7 datasets are current; 16 records written/)
    if (kind === 'sqlite') assert.equal(statSync(theirs).mode & 0o777, 0o600)
    const store = await openStore(kind, ours)
    await client.sync({ store })
    await store.close()
    assert.deepEqual(await definitionOf(kind, theirs), await definitionOf(kind, ours))
    await assertTypedRows(kind, theirs)

    await location.upload('patients', { r1: aRecord('patients', { last_name: 'Changed' }), r3: aRecord('patients') })
    assert.match(
      await python(ours, '--verify'),
      /; 2 records written.*\n7 datasets equal the service, record by record/,
    )
    const events: StoreEvent[] = []
    const opened = await openStore(kind, theirs, { onEvent: (event) => events.push(event) })
    assert.equal((await client.sync({ store: opened })).records, 2)
    assert.deepEqual(events, [], 'nothing was converted')
    assert.equal(await assertEqualCopy(client, opened, [location.id]), 17)
    await opened.close()
    const reopened = await openStore(kind, ours)
    assert.equal(await assertEqualCopy(client, reopened, [location.id]), 17)
    await reopened.close()
    for (const copy of [theirs, ours]) await assertTypedRows(kind, copy)
  })
}

test('M06: Python mirrors of practices that live end equal to the service, also when they are killed behind a network that fails', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const { world, vendor, practices } = await livePractices(t, seed)
  const over = practices.live(10)
  const copies = await Promise.all(
    kinds.map((kind, index) => mirrorUnderFire(t, { kind, random: seededRandom(seed + index), world, vendor, over })),
  )
  for (const { kind, copy } of copies) {
    const store = await openStore(kind, copy)
    const records = await assertEqualCopy(clientOf(world, vendor), store, await practices.locationIds())
    const left = await store.positions()
    assert.ok(left.every(({ walk, watermark }) => walk === null && watermark !== null))
    await store.close()
    await assertTypedRows(kind, copy)
    t.diagnostic(`${kind}: ${records} records, ${practices.events()} events`)
  }
})

type Live = Awaited<ReturnType<typeof livePractices>>

/** Mirrors in processes that are killed while the practices live, and then once more in peace. */
async function mirrorUnderFire(
  t: TestContext,
  {
    kind,
    random,
    world,
    vendor,
    over,
  }: Pick<Live, 'world' | 'vendor'> & {
    kind: (typeof kinds)[number]
    random: () => number
    over: Promise<void>
  },
) {
  const proxy = await startProxy(t, world.url, someMishap(random, 0.1))
  const copy = await someTarget(t, kind)
  const config = someFolder(t)
  const mirror = (url: string) => startPython(t, ['mirror', '--to', placeOf(kind, copy)], { url, vendor, config })
  for (let kills = 0; kills < killsOfEach; ) {
    const { child, ended } = mirror(proxy.url)
    // Long enough to start, and sometimes for a whole round.
    const pause = new AbortController()
    await Promise.race([sleep(500 + random() * 2000, null, { signal: pause.signal }).catch(() => {}), ended])
    pause.abort()
    if (child.kill('SIGKILL')) kills += 1
    await ended
  }
  await over
  const { code, err } = await mirror(world.url).ended
  assert.equal(code, 0, err)
  return { kind, copy }
}

/** What a mirror's database says of its tables and views. */
async function definitionOf(kind: (typeof kinds)[number], target: string) {
  const { select, close } = await openMirror(kind, target)
  try {
    const objects =
      kind === 'sqlite'
        ? `select type, name, sql from sqlite_schema where name not like 'sqlite_%' order by name`
        : `select c.relkind::text as type, c.relname as name, coalesce(pg_get_viewdef(c.oid), pg_get_indexdef(c.oid), '') as sql,
             obj_description(c.oid) as about,
             (select json_agg(json_build_array(attname, format_type(atttypid, atttypmod), attnotnull, col_description(c.oid, attnum)) order by attnum)
                from pg_attribute where attrelid = c.oid and attnum > 0)::text as columns
             from pg_class as c where relnamespace = 'bridgework'::regnamespace order by relname`
    const found = await select(objects)
    assert.ok(found.length > 40)
    return [...found, ...(await select('select name from layout order by name'))]
  } finally {
    await close()
  }
}
