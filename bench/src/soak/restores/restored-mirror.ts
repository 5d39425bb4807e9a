import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { createRandom } from '@bridgework/practice-simulator'
import { Bridgework, datasetNames, type SyncStore, sqliteStore } from '../../../../packages/client/src/index.ts'
import type { World } from '../../world/practice.ts'

/** A copy that is kept current until it is compared. */
export type RestoredCopy = {
  /** Brings it up to date and compares it with the service, which stands still. Returns how many records both have, and goes on. */
  compare: () => Promise<number>
  stop: () => Promise<void>
  /** What happened to it. */
  said: () => string
}

const mirrorMain = join(import.meta.dirname, '../../../../packages/client/src/sync/testing/test-mirror-process.ts')

/** A mirror in a process of its own; with `random` it is killed every second or so. */
export function startMirror(world: World, file: string, random?: ReturnType<typeof createRandom>): RestoredCopy {
  const { server, vendor } = world
  const counts = { kills: 0, left: 0 }
  let known = new Set<string>()
  let isStopped = false
  let child: ChildProcess | undefined
  const run = async () => {
    while (!isStopped) {
      child = spawn(process.execPath, [mirrorMain, 'sqlite', file, server.vendorUrl, `${file}.tokens.json`], {
        env: {
          ...process.env,
          BRIDGEWORK_CLIENT_ID: vendor.clientId,
          BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
        },
        // While the service is away it ends with an error, and is started again.
        stdio: 'ignore',
      })
      const ended = once(child, 'exit')
      if (!random) await ended
      else {
        await Promise.race([ended, sleep(700 + random.next() * 2_000)])
        if (child.exitCode === null) counts.kills += 1
        child.kill('SIGKILL')
        await ended
      }
      // While the service is away a start is of no use.
      await sleep(500)
    }
  }
  let running = run()
  const stop = async () => {
    isStopped = true
    child?.kill('SIGKILL')
    await running
  }
  return {
    async compare() {
      await stop()
      const client = new Bridgework({ baseUrl: server.vendorUrl, ...vendor })
      const store = await sqliteStore(file)
      try {
        // A walk that broke off ends in the first round, and what came since is in the second.
        for (let round = 0; round < 2; round += 1) {
          assert.deepEqual((await client.sync({ store })).failed, [])
        }
        const locations: string[] = []
        for await (const { id } of client.locations.list()) locations.push(id)
        assert.deepEqual(
          locationsIn(file).filter((id) => !locations.includes(id)),
          [],
          'a location that is not there',
        )
        const names = await compareRecords(client, store, locations)
        counts.left += known.difference(names).size
        known = names
        for (const { wrongRows } of await client.verify({ store, repair: false })) assert.equal(wrongRows, 0)
        assert.ok(names.size > 0)
        return names.size
      } finally {
        await store.close()
        isStopped = false
        running = run()
      }
    },
    stop,
    said: () => `a mirror with ${counts.kills} kills, which ${counts.left} records of an earlier comparison have left`,
  }
}

/** Returns which records the service and the copy have. */
async function compareRecords(
  client: Bridgework,
  store: SyncStore,
  locations: readonly string[],
): Promise<Set<string>> {
  const names = new Set<string>()
  for (const locationId of locations) {
    for (const dataset of datasetNames) {
      const records = await Array.fromAsync(client.dataset(dataset).list({ locationId, pageSize: 5000 }))
      assert.deepEqual(
        await Array.fromAsync(store.read({ locationId, dataset })),
        records,
        `${dataset} of ${locationId}`,
      )
      for (const { id } of records) names.add(`${locationId}/${dataset}/${id}`)
    }
  }
  return names
}

/** The locations of which a mirror has anything. */
function locationsIn(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const tables = ['raw_record', 'patients', 'locations']
    return tables.flatMap((table) =>
      database
        .prepare(`select distinct cast(${table === 'locations' ? 'id' : 'location_id'} as text) as id from ${table}`)
        .all()
        .map(({ id }) => String(id)),
    )
  } finally {
    database.close()
  }
}
