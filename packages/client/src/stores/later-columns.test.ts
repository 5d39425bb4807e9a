import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeLocations } from '../../../../apps/server/src/modules/onboarding/complete-locations.ts'
import { rerenderSlice } from '../../../../apps/server/src/modules/records/write/rerenderer.ts'
import { assertEqualCopy, openStore, someTarget } from '../sync/testing/test-mirror.ts'
import { assertTypedRows, openMirror } from '../sync/testing/test-typed-rows.ts'
import { aRecord, someClient } from '../testing/test-client.ts'
import { columnsAfter, type StoreEvent, tablesName, tablesNameAt, viewNames } from './layout.ts'

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`${kind}: a mirror of an earlier number of the contract gets the columns that came later, typed, and copies no record again`, async (t) => {
    const { world, client, location } = await someClient(t)
    const { title: _, ...patient } = aRecord('patients') as Record<string, unknown>
    await location.upload('patients', { p1: patient, p2: patient, p3: patient })
    const { created_at: __, ...visit } = aRecord('appointments') as Record<string, unknown>
    await location.upload('appointments', { a1: visit })
    // As a service of number 1 stored them, and a client of number 1 copied them.
    await world.ownerPool.query(
      `update record set document = replace(replace(document, '"title":null,', ''), ',"created_at":null', '')`,
    )
    await world.pool.query('update dataset_state set rendering = 1')
    const target = await someTarget(t, kind)
    const first = await openStore(kind, target)
    await client.sync({ store: first })
    await first.close()
    const later = columnsAfter(1)
    assert.ok(later.length >= 2)
    const mirror = await openMirror(kind, target)
    const at = kind === 'postgres' ? 'bridgework.' : ''
    // SQLite's views do not go with their columns.
    if (kind === 'sqlite') await mirror.exec(viewNames.map((name) => `drop view ${name};`).join(' '))
    for (const { dataset, column } of later)
      await mirror.exec(
        `alter table ${at}${dataset} drop column "${column.name}" ${kind === 'postgres' ? 'cascade' : ''}`,
      )
    await mirror.exec(`update ${at}layout set name = '${tablesNameAt(1)}' where name = '${tablesName}'`)
    await mirror.close()

    // The service of today renders them anew; one record gets a value from an agent of today.
    await completeLocations(world.pool)
    while ((await rerenderSlice(world.pool, () => {})) !== null);
    await location.upload('patients', { p2: { ...patient, title: 'Dr.' } })
    // The client of number 1 keeps what it does not know.
    await keepUnknown()
    const events: StoreEvent[] = []
    const store = await openStore(kind, target, { onEvent: (event) => events.push(event) })
    assert.deepEqual(events, [], 'nothing is made anew')
    const titles = async () => {
      const { select, close } = await openMirror(kind, target)
      const rows = await select('select source_id, title from patients order by source_id')
      const kinds = await select('select count(created_at) as n from appointments')
      await close()
      assert.equal(Number(kinds[0]?.n), 0)
      return rows.map(({ source_id, title }) => [source_id, title])
    }
    assert.deepEqual(await titles(), [
      ['p1', null],
      ['p2', null],
      ['p3', 'kept'],
    ])
    assert.equal((await client.sync({ store })).records, 1, 'what got a value, and no other record')
    assert.deepEqual(await titles(), [
      ['p1', null],
      ['p2', 'Dr.'],
      ['p3', 'kept'],
    ])
    const checked = await client.verify({ store })
    assert.deepEqual(
      checked
        .map(({ read, wrong, missing, stray, wrongRows }) => read + wrong + missing + stray + wrongRows)
        .filter((n) => n > 0).length,
      1,
      'only the record that the test itself changed in the copy',
    )
    await assertEqualCopy(client, store, [location.id])
    await store.close()
    await assertTypedRows(kind, target)

    async function keepUnknown(): Promise<void> {
      const { exec, close } = await openMirror(kind, target)
      const raw = kind === 'postgres' ? 'attributes::text' : 'attributes'
      const set = `replace(${raw}, '"first_name"', '"title":"kept","first_name"')${kind === 'postgres' ? '::json' : ''}`
      await exec(
        `update ${at}raw_record set attributes = ${set} where dataset = 'patients' and ${raw} like '%"source_id":"p3"%'`,
      )
      await close()
    }
  })
}
