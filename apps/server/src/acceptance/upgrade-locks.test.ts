import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { serverRole } from '../platform/database/embedded/cluster.ts'
import { migrate } from '../platform/database/migrate.ts'
import { createTestDatabase, dropSchemas } from '../platform/database/testing/test-database.ts'
import { someInstallation } from './testing/test-installation.ts'
import { migrationsThrough, withNextVersion } from './testing/test-next-version.ts'
import { listDumps, loadDump, readDump } from './testing/test-upgrade.ts'

/** The soak's row MIG takes a million. */
const count = Number(process.env.BRIDGEWORK_TEST_RECORDS ?? 2_000)
/** Beyond all ids of a dump. */
const idStep = 1_000_000
/** Below the 5 s that a statement of a request may take. */
const waitMaxMs = 4_000

test(`no migration since the oldest release, and none as a next one may add, keeps a reader or a writer of ${count} records waiting`, async (t) => {
  const [oldest] = listDumps().sort()
  const dump = oldest === undefined ? await someInstallation(t) : readDump(oldest)
  const database = await createTestDatabase(t)
  const { ownerPool, pool } = database
  await dropSchemas({ ownerPool })
  await migrate(database.url, { directory: migrationsThrough(t, dump.migration), serverRole, log: () => {} })
  await loadDump(database, dump)
  await multiply(ownerPool, 'record', { source_id: `'copy ' || n` })
  await multiply(ownerPool, 'disclosure', {})

  const longest = { read: 0, write: 0 }
  let isOver = false
  const probe = async (kind: keyof typeof longest, statement: string) => {
    while (!isOver) {
      const askedAt = performance.now()
      await pool.query(statement)
      longest[kind] = Math.max(longest[kind], Math.round(performance.now() - askedAt))
      await sleep(5)
    }
  }
  const probes = [
    probe('read', 'select source_id from record order by location_id, dataset, id limit 1'),
    probe('read', 'select location_id from segment limit 1'),
    probe(
      'write',
      `update record set received_at = received_at
        where (location_id, dataset, id) = (select location_id, dataset, id from record order by 1, 2, 3 limit 1)`,
    ),
  ]
  await migrate(database.url, {
    directory: withNextVersion(t),
    serverRole,
    log: (event) => {
      if (event.event !== 'database.migrated') return
      t.diagnostic(`${event.name}: ${event.durationMs} ms; longest since the beginning ${JSON.stringify(longest)} ms`)
    },
  })
  isOver = true
  await Promise.all(probes)

  assert.ok(longest.read < waitMaxMs && longest.write < waitMaxMs, JSON.stringify(longest))
})

/** Copies one row so often that the table has `count` of them, with ids of their own. */
async function multiply(ownerPool: Pool, table: string, others: Readonly<Record<string, string>>): Promise<void> {
  const client = await ownerPool.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select attname as name from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
      [table],
    )
    const names = rows.map(({ name }) => name)
    const values = names.map((name) => (name === 'id' ? `id + ${idStep} + n` : (others[name] ?? name)))
    // In slices, for the pool waits half a minute for a statement.
    for (let made = 0; made < count; made += 50_000) {
      await client.query(
        `insert into ${table} (${names.join(', ')}) overriding system value
         select ${values.join(', ')} from (select * from ${table} order by id limit 1) one,
                generate_series(${made + 1}, ${Math.min(made + 50_000, count)}) n`,
      )
    }
  } finally {
    client.release()
  }
}
