import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../config.ts'
import { query, testFolder } from '../../platform/database/embedded/testing/test-data-dir.ts'
import { openContext } from './context.ts'

test('K17: a command stops the database that it started for itself', async (t) => {
  const { dataDir } = testFolder(t)
  const context = await openContext(readConfig({ BRIDGEWORK_DATA_DIR: dataDir }, dataDir), {
    say: () => {},
    write: async () => {},
    ask: null,
    signal: new AbortController().signal,
    progress: { show: () => {}, end: () => {} },
    migrates: false,
  })
  assert.deepEqual(await query(context.ownerUrl, 'select version from agreement'), [{ version: 1 }])
  await context.close()
  await assert.rejects(query(context.ownerUrl, 'select 1'))
})
