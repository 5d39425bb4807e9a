import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createEmptyDatabase } from '../../../../../apps/server/src/platform/database/testing/test-database.ts'
import type { Bridgework } from '../../bridgework.ts'
import { datasetNames } from '../../dataset-resource.ts'
import type { StoreOptions } from '../../stores/layout.ts'
import { ndjsonStore } from '../../stores/ndjson-store.ts'
import { postgresStore } from '../../stores/postgres/postgres-store.ts'
import { sqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import type { SyncStore } from '../store.ts'
import { canonical } from '../verify.ts'

export type StoreKind = 'ndjson' | 'sqlite' | 'postgres'
export const storeKinds: readonly StoreKind[] = ['ndjson', 'sqlite', 'postgres']

/** A target of the test's own: a folder, a file or a database's address. */
export async function someTarget(t: TestContext, kind: StoreKind): Promise<string> {
  if (kind === 'postgres') return (await createEmptyDatabase(t)).url
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-mirror-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return kind === 'sqlite' ? join(folder, 'copy.sqlite') : folder
}

export function openStore(kind: StoreKind, target: string, options: StoreOptions = {}): Promise<SyncStore> {
  if (kind === 'postgres') return postgresStore(target, options)
  return kind === 'sqlite' ? sqliteStore(target, options) : ndjsonStore(target)
}

/** Fails unless the store has exactly the service's records, with exactly their content. */
export async function assertEqualCopy(client: Bridgework, store: SyncStore, locationIds: readonly string[]) {
  let count = 0
  for (const locationId of locationIds) {
    for (const dataset of datasetNames) {
      const server = []
      for await (const record of client.dataset(dataset).list({ locationId, pageSize: 5000 }))
        server.push(canonical(record))
      const copy = []
      for await (const record of store.read({ locationId, dataset })) copy.push(canonical(record))
      assert.deepEqual(copy, server, `${dataset} of location ${locationId}`)
      count += server.length
    }
  }
  return count
}
