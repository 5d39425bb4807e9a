import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectEmbedded } from '@bridgework/server/src/platform/database/embedded/embedded-postgres.ts'
import { analyzeFilled, filledFrom, fillPractices } from '@bridgework/server/src/testing/test-practices.ts'
import pg from 'pg'
import { residentMb } from '../cpu-time.ts'
import { batchLines, uploadAll, uploadsOf } from '../fixture/uploads.ts'
import { createWorld, runSql, type World } from '../world/practice.ts'
import { createThrowAwayServer, type ThrowAwayServer } from '../world/throw-away-server.ts'
import { packLines, planLine } from '../world/upload.ts'
import { workOf } from './work.ts'

/** An installation of so many practices. Processor time of a second in which nothing is asked, in milliseconds. */
export type Scale = {
  practices: number
  postgresIdleMs: number
  processIdleMs: number
  startMs: number
  memoryMb: number | null
  /** The fastest of several, in milliseconds: what a vendor gets over HTTP, and each periodic statement in the database. */
  times: Record<string, number>
}

export async function measureScale(options: { practices: number; seconds: number; records: number }): Promise<Scale> {
  const { practices, seconds } = options
  const server = await createThrowAwayServer()
  try {
    await server.start()
    const world = await createWorld(server, { locations: 1 })
    await uploadPlans(world, options.records)
    await fill(world, practices)
    await server.stop()
    const startMs = await server.start()
    // What is due after a start is done, and the pools have their connections.
    await sleep(20_000)
    const memoryMb = residentMb(server.pid())
    const before = { postgres: runMs(server.postgresPids()), process: runMs([server.pid()]) }
    await sleep(seconds * 1_000)
    const after = { postgres: runMs(server.postgresPids()), process: runMs([server.pid()]) }
    const times = { ...(await timesOfRequests(world, practices)), ...(await timesInDatabase(server)) }
    return {
      practices,
      postgresIdleMs: rounded((after.postgres - before.postgres) / seconds),
      processIdleMs: rounded((after.process - before.process) / seconds),
      startMs: Math.round(startMs),
      memoryMb,
      times,
    }
  } finally {
    await server.remove()
  }
}

async function uploadPlans(world: World, records: number): Promise<void> {
  const lines = Array.from({ length: records }, (_, index) => planLine(index + 1))
  const bodies = []
  for (let from = 0; from < records; from += batchLines) bodies.push(packLines(lines.slice(from, from + batchLines)))
  await uploadAll(uploadsOf(world), world.locationIds[0] ?? '', 'insurance_plans', bodies)
}

async function fill(world: World, practices: number): Promise<void> {
  const [company] = await runSql<{ id: string }>(world.ownerUrl, 'select id from company')
  const pool = new pg.Pool({ connectionString: world.adminUrl, max: 1 })
  try {
    const atOnce = 10_000
    for (let from = 0; from < practices; from += atOnce) {
      const count = Math.min(atOnce, practices - from)
      await fillPractices(pool, { count, from, companyId: company?.id ?? '' })
    }
    await analyzeFilled(pool)
  } finally {
    await pool.end()
  }
}

/** A walk goes on with the second page, so both are asked for; the last page is asked for by its number alone. */
async function timesOfRequests({ server, vendor, locationIds }: World, practices: number) {
  const at = `/locations/${locationIds[0]}`
  const delta = `${at}/insurance_plans?q[fetch_modified_since]=${encodeURIComponent(new Date().toISOString())}`
  const paths = {
    'GET /locations': '/locations',
    'GET /locations, second page of 100': '/locations?items=100&page=2',
    'GET /locations, last page of 100': `/locations?items=100&page=${Math.max(1, Math.floor(practices / 100))}`,
    'GET /organizations': '/organizations',
    'GET /locations/{id}': at,
    'GET /locations/{id}/sync_status': `${at}/sync_status`,
    'GET /locations/{id}/sync_status of another': `/locations/${filledFrom}/sync_status`,
    'GET a delta': delta,
    'GET a page of 250': `${at}/insurance_plans?items=250`,
  }
  const headers = { authorization: `Bearer ${vendor.token}` }
  const times: Record<string, number> = {}
  for (const [name, path] of Object.entries(paths)) {
    times[name] = await fastest(async () => {
      const answer = await fetch(`${server.vendorUrl}${path}`, { headers })
      const text = await answer.text()
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text.slice(0, 200)}`)
    })
  }
  return times
}

async function timesInDatabase(server: ThrowAwayServer): Promise<Record<string, number>> {
  const { serverUrl, close } = await connectEmbedded(server.dataDir, { log: () => {} })
  const pool = new pg.Pool({ connectionString: serverUrl, max: 2 })
  try {
    const times: Record<string, number> = {}
    for (const [name, work] of Object.entries(workOf(pool))) times[name] = await fastest(work)
    return times
  } finally {
    await pool.end()
    await close()
  }
}

async function fastest(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 7; round += 1) {
    const begun = performance.now()
    await work()
    times.push(performance.now() - begun)
  }
  return rounded(Math.min(...times))
}

/** How long these processes ran so far, with all their threads, in milliseconds: the first number of schedstat, in nanoseconds. */
function runMs(pids: readonly number[]): number {
  let total = 0
  for (const pid of pids) {
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`))
        total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0])
    } catch {
      // It ended since the list was made.
    }
  }
  return total / 1e6
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
