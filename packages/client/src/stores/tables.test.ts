import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { assertEqualCopy, openStore, someTarget } from '../sync/testing/test-mirror.ts'
import { assertTypedRows, openMirror } from '../sync/testing/test-typed-rows.ts'
import { aRecord, someClient } from '../testing/test-client.ts'
import { views } from './views.ts'

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`${kind}: amounts compare and sum, ids join, lists are rows, and hidden records are out of the current views`, async (t) => {
    const { client, location, locations, world } = await someClient(t, { locations: 2 })
    await location.upload('patients', {
      p1: aRecord('patients', { guarantor_source_id: 'p1' }),
      p2: aRecord('patients', { last_name: 'Other', guarantor_source_id: 'p1' }),
      p3: null,
    })
    await location.upload('treatments', {
      t1: aRecord('treatments', { patient_source_id: 'p2', teeth: ['3', '14'] }),
      t2: aRecord('treatments', { patient_source_id: 'p1', teeth: [] }),
    })
    await location.upload('appointments', {
      a1: aRecord('appointments', { patient_source_id: 'p1', treatment_source_ids: ['t1', 't2'] }),
    })
    const amounts = ['0.10', '0.20', '-36.00', '100.00', '100.01', '9999999999999.99']
    await location.upload(
      'ledger_transactions',
      Object.fromEntries(
        amounts.map((amount, index) => [
          `l${index}`,
          aRecord('ledger_transactions', {
            amount,
            patient_source_id: 'p2',
            allocations: index === 0 ? [{ treatment_source_id: 't1', amount: '0.10' }] : [],
          }),
        ]),
      ),
    )
    await location.upload('ledger_transactions', { l5: null })
    await world.pool.query(
      `update dataset_state set synced_at = now() where location_id = $1 and dataset = 'patients'`,
      [location.id],
    )
    const { one } = await mirrored(t, kind, client)

    assert.deepEqual(await one('select count(*) as n from current_ledger_transactions where amount > 100'), { n: '1' })
    assert.deepEqual(await one('select count(*) as n from ledger_transactions where amount = 0.10'), { n: '1' })
    assert.deepEqual(await one('select count(*) as n, sum(amount) as total from current_ledger_transactions'), {
      n: '5',
      total: '164.31',
    })
    assert.deepEqual(
      await one(`select p.last_name, g.id = p.guarantor_id as is_guarantor from ledger_transactions l
                   join patients p on p.id = l.patient_id join patients g on g.source_id = 'p1' limit 1`),
      { last_name: 'Other', is_guarantor: kind === 'sqlite' ? '1' : 't' },
    )
    assert.deepEqual(
      await one(`select count(*) as n, sum(t.fee) as fees from appointment_treatments
                   join treatments t on t.id = treatment_id`),
      { n: '2', fees: kind === 'sqlite' ? '360' : '360.00' },
    )
    assert.deepEqual(await one(`select count(*) as n, max(tooth) as tooth from treatment_teeth`), {
      n: '2',
      tooth: '3',
    })
    assert.deepEqual(
      await one(
        `select a.amount, t.source_id from ledger_transaction_allocations a join treatments t on t.id = a.treatment_id`,
      ),
      { amount: kind === 'sqlite' ? '0.1' : '0.10', source_id: 't1' },
    )
    assert.deepEqual(await one('select count(*) as n from locations join organizations o on o.id = organization_id'), {
      n: '2',
    })
    assert.deepEqual(await one('select count(*) as n from grants'), { n: String(locations.length * 7) })
    assert.deepEqual(
      await one(
        'select count(*) as n, count(lag_seconds) as read from sync_state where is_complete and state is not null',
      ),
      { n: '14', read: '1' },
    )
    assert.deepEqual(await one('select dataset from sync_state where lag_seconds between 0 and 600'), {
      dataset: 'patients',
    })
    for (const { name } of views) assert.ok(await one(`select count(*) as n from ${name}`), name)
  })

  test(`${kind}: what is left at a closed location is out of the current views and of the answers, and back when it opens again`, async (t) => {
    const { client, location, locations, world } = await someClient(t, { locations: 2 })
    const [, closed = assert.fail()] = locations
    for (const each of locations) {
      await each.upload('ledger_transactions', {
        l1: aRecord('ledger_transactions', { amount: '100.00', transaction_type: 'charge' }),
      })
    }
    await world.pool.query('update location set is_active = false where id = $1', [closed.id])
    const { one, select, syncAgain } = await mirrored(t, kind, client)
    const sums = () =>
      one(`select (select sum(amount) from current_ledger_transactions) as current, (select sum(production) from production_by_provider) as answer,
                  (select count(*) from ledger_transactions) as kept`)
    const money = (value: number) => (kind === 'sqlite' ? String(value) : `${value}.00`)
    const here = { current: money(100), answer: money(100), kept: '2' }
    assert.deepEqual(await sums(), here)
    assert.deepEqual(await select('select distinct location_id from current_ledger_transactions'), [
      { location_id: location.id },
    ])
    await world.pool.query('update location set is_active = true where id = $1', [closed.id])
    await syncAgain()
    assert.deepEqual(await sums(), { ...here, current: money(200), answer: money(200) })
  })

  test(`${kind}: every odd value of a record stands in its column`, async (t) => {
    const { client, location, world } = await someClient(t)
    await location.upload('patients', {
      p1: aRecord('patients', { first_name: 'a<NUL><NUL>b', last_name: '\\<NUL>c', date_of_birth: '0000-02-29' }),
      p2: aRecord('patients', { first_name: '\\u0000', last_name: "'; drop table patients; --", balance: null }),
    })
    // The service refuses this character, but has records from before it did.
    await world.pool.query(String.raw`update record set document = replace(document, '<NUL>', '\u0000')`)
    const { one } = await mirrored(t, kind, client, { isPlain: false })
    const [first, day] = kind === 'sqlite' ? ['a\0\0b', '0000-02-29'] : ['ab', '0001-02-29 BC']
    assert.deepEqual(await one(`select first_name, date_of_birth from patients where source_id = 'p1'`), {
      first_name: first,
      date_of_birth: day,
    })
    assert.deepEqual(await one(`select first_name, last_name, balance_total from patients where source_id = 'p2'`), {
      first_name: '\\u0000',
      last_name: "'; drop table patients; --",
      balance_total: null,
    })
  })

  test(`${kind}: a first walk writes any text, and replaces what the mirror has already`, async (t) => {
    const { client, location } = await someClient(t)
    const odd = 'a\\b\\\\n\tc\nd\re \\. \\N "q" {x,y} Zoë 🦷'
    await location.upload('patients', {
      p1: aRecord('patients', { first_name: odd, last_name: '\\N', preferred_name: '', middle_name: null }),
      p2: aRecord('patients', { first_name: 'Before' }),
    })
    const teeth = (...all: string[]) => aRecord('treatments', { patient_source_id: 'p1', teeth: all })
    await location.upload('treatments', { t1: teeth('3', '14'), t2: teeth(), t3: teeth('1', '2', '3') })
    const target = await someTarget(t, kind)
    const store = await openStore(kind, target)
    await client.sync({ store })
    await assertTypedRows(kind, target)
    const mirror = await openMirror(kind, target)
    t.after(mirror.close)
    await mirror.exec('delete from sync_position')
    await mirror.exec(`delete from patients where source_id = 'p1'`)
    await location.upload('patients', { p2: aRecord('patients', { first_name: 'After' }) })
    await location.upload('treatments', { t1: teeth('4'), t2: teeth('5', '6'), t3: teeth() })

    assert.equal((await client.sync({ store })).records, 5)
    await assertEqualCopy(client, store, [location.id])
    await assertTypedRows(kind, target)
    assert.deepEqual(await mirror.select(`select first_name from patients order by source_id`), [
      { first_name: odd },
      { first_name: 'After' },
    ])
    assert.ok((await client.verify({ store, repair: false })).every(({ wrongRows }) => wrongRows === 0))
    await store.close()
  })

  test(`${kind}: verify finds rows that something else changed, removed, added or moved, and writes them as their records say`, async (t) => {
    const { world, vendor, client, location } = await someClient(t)
    const other = await world.addLocation()
    await world.grant(vendor.companyId, other)
    await other.upload('patients', { p1: aRecord('patients') })
    await location.upload(
      'patients',
      Object.fromEntries(['p1', 'p2', 'p3', 'p4', 'p5', 'p6'].map((key) => [key, aRecord('patients')])),
    )
    const teeth = { patient_source_id: 'p1', teeth: ['3', '14'] }
    await location.upload('treatments', {
      t1: aRecord('treatments', teeth),
      t2: aRecord('treatments', teeth),
      t3: aRecord('treatments', teeth),
      t4: aRecord('treatments', teeth),
    })
    const target = await someTarget(t, kind)
    const store = await openStore(kind, target)
    await client.sync({ store })
    const mirror = await openMirror(kind, target)
    const changes = [
      `update patients set last_name = 'Changed' where source_id = 'p2'`,
      `update patients set balance_total = null where source_id = 'p3'`,
      `delete from patients where source_id = 'p4'`,
      `update patients set location_id = ${other.id} where source_id = 'p5'`,
      `update patients set location_id = 999999999 where source_id = 'p6'`,
      `insert into patients (id, location_id) values (999999999, ${location.id})`,
      `delete from treatment_teeth where position = 2 and treatment_id = (select id from treatments where source_id = 't1')`,
      `update treatment_teeth set tooth = '4' where position = 1 and treatment_id = (select id from treatments where source_id = 't2')`,
      `insert into treatment_teeth (location_id, treatment_id, position, tooth)
       select location_id, id, 3, '5' from treatments where source_id = 't3'`,
      `insert into treatment_teeth (location_id, treatment_id, position, tooth) values (999999999, 999999999, 1, '5')`,
    ]
    for (const change of changes) await mirror.exec(change)
    await mirror.close()

    const rowsOf = (found: Awaited<ReturnType<typeof client.verify>>) =>
      found
        .filter(({ wrongRows }) => wrongRows > 0)
        .map(({ locationId, dataset, wrongRows, read }) => [locationId, dataset, wrongRows, read])
        .sort()
    // What stands at the location that the mirror does not have is found at each that it has.
    const expected = [
      [location.id, 'patients', 6, 0],
      [location.id, 'treatments', 4, 0],
      [other.id, 'patients', 2, 0],
      [other.id, 'treatments', 1, 0],
    ]
    assert.deepEqual(rowsOf(await client.verify({ store, repair: false })), expected.sort())
    await client.verify({ store })
    assert.deepEqual(rowsOf(await client.verify({ store })), [])
    await store.close()
    await assertTypedRows(kind, target)
  })
}

test('a million amounts of SQLite sum to the cent', async (t) => {
  const target = await someTarget(t, 'sqlite')
  await (await openStore('sqlite', target)).close()
  const { select, exec, close } = await openMirror('sqlite', target)
  await exec(`insert into ledger_transactions (id, location_id, amount)
    with recursive number (n) as (select 1 union all select n + 1 from number where n < 1000000)
    select n, 1, (n * 7919 % 99999989) / 100.0 from number`)
  const [sums] = await select(
    'select round(sum(amount), 2) as total, sum(amount_cents) as cents from ledger_transactions',
  )
  assert.equal(Math.round(Number(sums?.total) * 100), Number(sums?.cents))
  await close()
})

/** A mirror that was synced once, and a connection to it. */
async function mirrored(
  t: TestContext,
  kind: 'sqlite' | 'postgres',
  client: Awaited<ReturnType<typeof someClient>>['client'],
  { isPlain = true } = {},
) {
  const target = await someTarget(t, kind)
  const syncAgain = async () => {
    const store = await openStore(kind, target)
    await client.sync({ store })
    await store.close()
  }
  await syncAgain()
  await syncAgain()
  // A text with the character 0, or a year 0, is not the same in Postgres.
  if (isPlain) await assertTypedRows(kind, target)
  const { select, close } = await openMirror(kind, target)
  t.after(close)
  return { select, syncAgain, one: async (sql: string) => (await select(sql))[0] }
}

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`${kind}: every query of the guide runs`, async (t) => {
    const { client } = await someClient(t)
    const { one } = await mirrored(t, kind, client)
    const guide = readFileSync(join(import.meta.dirname, '../../../../docs/guides/analyse.md'), 'utf8')
    const queries = [...guide.matchAll(/```sql\n([^`]+)```/g)].map(([, query]) => query ?? '')
    assert.ok(queries.length > 5)
    for (const query of queries) await one(query)
  })
}
