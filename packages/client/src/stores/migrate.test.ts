import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertEqualCopy, openStore, someTarget } from '../sync/testing/test-mirror.ts'
import { assertTypedRows, openMirror } from '../sync/testing/test-typed-rows.ts'
import { aRecord, someClient } from '../testing/test-client.ts'
import type { StoreEvent } from './layout.ts'

/** Enough that making the tables is more than one step in either database. */
const patients = 6_000
const kills = 3

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`${kind}: a mirror whose tables another layout made is filled anew with the same records, however often that is killed, and goes on`, async (t) => {
    const { client, location } = await someClient(t, { insurancePlans: 3 })
    await location.upload(
      'patients',
      Object.fromEntries(
        Array.from({ length: patients }, (_, index) => [`p${index}`, aRecord('patients', { last_name: `N${index}` })]),
      ),
    )
    await location.upload('ledger_transactions', { l1: aRecord('ledger_transactions', { amount: '12.50' }) })
    const target = await someTarget(t, kind)
    const first = await openStore(kind, target)
    await client.sync({ store: first })
    await first.close()
    const before = await openMirror(kind, target)
    await before.exec(
      `update patients set last_name = null; update layout set name = 'older' where name like 'tables%'`,
    )
    if (kind === 'postgres') {
      await before.exec(`create view public.families as select last_name, count(*) as n from bridgework.current_patients group by 1;
        create view public.large_families as select * from public.families where n > 1;
        grant select on public.families, bridgework.current_patients to pg_monitor`)
    }
    await before.close()

    const begin = (events: number) => {
      const program = openUntil(kind, target, events)
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' })
      return { child, ended: once(child, 'exit') }
    }
    const steps = kind === 'sqlite' ? [1, 7, 8] : [1, 2, 4]
    for (const step of steps) assert.deepEqual(await begin(step).ended, [null, 'SIGKILL'], `after step ${step}`)
    const stop = new AbortController()
    const events: StoreEvent[] = []
    const onEvent = (event: StoreEvent) => {
      events.push(event)
      stop.abort(new Error('enough'))
    }
    await assert.rejects(openStore(kind, target, { onEvent, signal: stop.signal }), /enough/)
    assert.deepEqual(events, [{ event: 'converting', records: 3, total: patients + 4 }])
    for (let kill = 0; kill < kills; kill += 1) {
      const { child, ended } = begin(0)
      await Promise.race([sleep(300 + kill * 300), ended])
      child.kill('SIGKILL')
      await ended
    }
    const store = await openStore(kind, target)
    await assertEqualCopy(client, store, [location.id])
    await assertTypedRows(kind, target)
    await location.upload('patients', { p1: aRecord('patients', { last_name: 'Changed' }) })
    assert.equal((await client.sync({ store })).records, 1, 'a delta, not all records again')
    await store.close()

    const { select, close } = await openMirror(kind, target)
    t.after(close)
    assert.deepEqual(await select('select sum(amount) as total from ledger_transactions'), [
      { total: kind === 'sqlite' ? '12.5' : '12.50' },
    ])
    if (kind === 'postgres') {
      assert.deepEqual(await select('select count(*) as n from families'), [{ n: String(patients) }])
      assert.deepEqual(await select('select count(*) as n from large_families'), [{ n: '0' }])
      const may = `select has_table_privilege('pg_monitor', name, 'select') as may from unnest(array['families', 'current_patients']) as name`
      assert.deepEqual(await select(may), [{ may: 't' }, { may: 't' }])
    }
  })

  test(`${kind}: a mirror of another contract gets the columns that it lacks, and every row anew`, async (t) => {
    const { client, location } = await someClient(t)
    await location.upload('patients', { p1: aRecord('patients', { last_name: 'Kept' }) })
    const target = await someTarget(t, kind)
    const store = await openStore(kind, target)
    await client.sync({ store })
    await store.close()
    const older = await openMirror(kind, target)
    if (kind === 'postgres') {
      await older.exec(`drop view current_patients cascade; create view public.mine as select * from current_treatments; alter table patients drop column last_name cascade;
        alter table patients add column of_a_newer_contract text; update layout set name = 'older'`)
    } else {
      await older.exec(`update patients set last_name = null; update layout set name = 'older'`)
    }
    await older.close()
    await (await openStore(kind, target)).close()
    await assertTypedRows(kind, target)
    const { select, close } = await openMirror(kind, target)
    t.after(close)
    assert.deepEqual(await select('select last_name from current_patients'), [{ last_name: 'Kept' }])

    const other = await openMirror(kind, target)
    const cascade = kind === 'postgres' ? 'cascade' : ''
    for (const dropped of ['view insurance_mix', 'view current_patients', 'table patients'])
      await other.exec(`drop ${dropped} ${cascade}`)
    await other.close()
    await (await openStore(kind, target)).close()
    await assertTypedRows(kind, target)
    assert.deepEqual(await select('select last_name from current_patients'), [{ last_name: 'Kept' }])
    await select('select * from insurance_mix')
    const events: StoreEvent[] = []
    await (await openStore(kind, target, { onEvent: (event) => events.push(event) })).close()
    assert.equal(events.length, 0, 'what is whole is not made again')

    const earlier = await openMirror(kind, target)
    await earlier.exec(`drop view insurance_mix; create view insurance_mix as select 1 as earlier;
      update layout set name = 'views of an earlier version' where name like 'views%'`)
    await earlier.close()
    await (await openStore(kind, target, { onEvent: (event) => events.push(event) })).close()
    await select('select carrier_name, patients from insurance_mix')
    assert.equal(events.length, 0, 'a view that changed rewrites no row')
    if (kind === 'postgres') assert.deepEqual(await select('select count(*) as n from public.mine'), [{ n: '0' }])
  })
}

test('views are replaced in place: rights, options and what others built upon them, also materialized, stay', async (t) => {
  const target = await someTarget(t, 'postgres')
  await (await openStore('postgres', target)).close()
  const mirror = await openMirror('postgres', target)
  t.after(mirror.close)
  await mirror.exec(`alter view insurance_mix set (security_barrier = true);
    grant select, references on insurance_mix to pg_monitor;
    create materialized view public.mine as select carrier_name from insurance_mix;
    create or replace view operatories as select location_id || '-' as operatory_key, location_id, ''::text as name, 0::bigint as appointments,
      null::date as first_on, null::date as last_on from current_appointments;
    update layout set name = 'older' where name like 'views%'`)
  const kept = `select oid, relacl, reloptions from pg_class where relname in ('insurance_mix', 'mine') order by relname`
  const before = await mirror.select(kept)
  assert.equal(before.length, 2)
  await (await openStore('postgres', target)).close()
  assert.deepEqual(await mirror.select(kept), before)
  const definition = `select pg_get_viewdef('operatories'::regclass) like '%operatory_name%' as is_new`
  assert.deepEqual(await mirror.select(definition), [{ is_new: 't' }])
})

test('a view of others that does not fit a new view stops the conversion, says so, and nothing has changed', async (t) => {
  const target = await someTarget(t, 'postgres')
  await (await openStore('postgres', target)).close()
  const mirror = await openMirror('postgres', target)
  t.after(mirror.close)
  await mirror.exec(`drop view insurance_mix; create view insurance_mix as select 1 as earlier;
    create view public.mine as select earlier from insurance_mix; update layout set name = 'older' where name like 'views%'`)
  await assert.rejects(openStore('postgres', target), /The view mine does not fit .* Drop it/)
  assert.deepEqual(await mirror.select('select earlier from public.mine'), [{ earlier: '1' }])
  await mirror.exec('drop view public.mine')
  await (await openStore('postgres', target)).close()
  await mirror.select('select carrier_name from insurance_mix')
})

/** A program that opens a store, and kills itself after this many steps of the conversion. */
function openUntil(kind: 'sqlite' | 'postgres', target: string, steps: number): string {
  const module = JSON.stringify(import.meta.resolve('../sync/testing/test-mirror.ts'))
  return `const { openStore } = await import(${module})
    let left = ${steps}
    const onEvent = () => void (--left === 0 && process.kill(process.pid, 'SIGKILL'))
    await (await openStore(${JSON.stringify(kind)}, ${JSON.stringify(target)}, { onEvent })).close()`
}
