import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { aPlan, someWorld } from '../../testing/test-world.ts'
import { exportOrganization } from './export.ts'
import { exportedTables } from './organization-export.ts'

test('K32: all files of an export are of one moment, whatever is stored while it is written', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  await location.upload('insurance_plans', { before: aPlan() })
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-snapshot-'))
  t.after(() => rmSync(folder, { recursive: true }))
  let meanwhile: Promise<unknown> | null = null
  // After the first file, a plan and a location are stored before anything else is read.
  const pool = {
    query: world.pool.query.bind(world.pool),
    async connect() {
      const client = await world.pool.connect()
      const query = async (...args: Parameters<typeof client.query>) => {
        if (args[0] === 'close exported')
          meanwhile ??= location
            .upload('insurance_plans', { meanwhile: aPlan() })
            .then(() => world.pool.query(`update location set name = 'Changed' where id = $1`, [location.id]))
        await meanwhile
        return await client.query(...args)
      }
      return new Proxy(client, {
        get(_, name) {
          const member: unknown = Reflect.get(client, name)
          return name === 'query' ? query : typeof member === 'function' ? member.bind(client) : member
        },
      })
    },
  } as unknown as Pool
  const deps = { pool, now: () => new Date(), signal: new AbortController().signal, onWritten: () => {} }
  const output = join(folder, 'leaving')

  await exportOrganization(deps, location.organizationId, output, async () => {})

  assert.notEqual(meanwhile, null)
  const linesOf = (path: string) =>
    readFileSync(join(output, path), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  assert.equal(linesOf('records/insurance_plans.ndjson').length, 1)
  assert.deepEqual(
    linesOf('locations.ndjson').map(({ name }) => name),
    ['Location'],
  )
})

test('K32: each table has a file of its own name, and says what it is', () => {
  const files = Object.values(exportedTables).map(({ file }) => file)
  assert.equal(new Set(files).size, files.length)
  for (const [table, { file, about, order }] of Object.entries(exportedTables))
    assert.ok(/^[a-z][a-z_-]+$/.test(file) && about !== '' && order !== '', table)
})
