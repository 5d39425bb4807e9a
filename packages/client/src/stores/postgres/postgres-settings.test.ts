import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEmptyDatabase } from '../../../../../apps/server/src/platform/database/testing/test-database.ts'
import { badSettings, spoilSettings } from '../../../../../apps/server/src/platform/database/testing/test-settings.ts'
import { assertEqualCopy, openStore } from '../../sync/testing/test-mirror.ts'
import { aPlan, someClient } from '../../testing/test-client.ts'

test('X05: a mirror in a database whose settings change what texts mean is the same', async (t) => {
  const { client, location } = await someClient(t, { insurancePlans: 40 })
  const database = await createEmptyDatabase(t)
  await spoilSettings(database, badSettings)
  await location.upload('insurance_plans', { p1: aPlan({ plan_name: 'a\\b\\u0041 \\\\ Zoë \'"' }) })
  const store = await openStore('postgres', database.url)
  t.after(() => store.close())
  const isWhole = async () => {
    await client.sync({ store })
    assert.ok((await assertEqualCopy(client, store, [location.id])) > 0)
    for (const { wrong, missing, stray, wrongRows } of await client.verify({ store }))
      assert.deepEqual([wrong, missing, stray, wrongRows], [0, 0, 0, 0])
  }
  await isWhole()
  await location.upload('insurance_plans', { p1: aPlan({ plan_name: '\\ changed \\' }), p2: null, new: aPlan() })
  await isWhole()
})
