import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectEmbedded } from '@bridgework/server/src/platform/database/embedded/embedded-postgres.ts'
import { analyzeFilled, filledFrom, fillPractices } from '@bridgework/server/src/testing/test-practices.ts'
import pg from 'pg'
import { endedCpuTimeMs, residentMb } from '../cpu-time.ts'
import { batchLines, uploadAll, uploadsOf } from '../fixture/uploads.ts'
import { createWorld, runSql, type World } from '../world/practice.ts'
import { createThrowAwayServer, type ThrowAwayServer } from '../world/throw-away-server.ts'
import { packLines, planLine } from '../world/upload.ts'
import { workOf } from './work.ts'

/** What an installation of `practices` takes. Times are of processors, in milliseconds. */
export type Scale = {
  practices: number
  /** Of a second in which nothing is asked. */
  idle: Spent
  startMs: number
  memoryMb: number | null
  /** Of a request of a vendor. */
  requests: Record<string, Spent>
  /** Of a periodic statement, in PostgreSQL. */
  statements: Record<string, number>
}

export type Spent = { postgres: number; process: number }

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
    const idle = await spentBy(server, seconds, () => sleep(seconds * 1_000))
    return {
      practices,
      idle,
      startMs: Math.round(startMs),
      memoryMb,
      requests: await measureRequests(world, practices),
      statements: await measureStatements(server),
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
async function measureRequests({ server, vendor, locationIds }: World, practices: number) {
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
  const requests: Record<string, Spent> = {}
  for (const [name, path] of Object.entries(paths)) {
    const ask = async () => {
      const answer = await fetch(`${server.vendorUrl}${path}`, { headers })
      const text = await answer.text()
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text.slice(0, 200)}`)
    }
    // What is made once and kept, such as code and the length of a list, is made before.
    await repeat(ask, rounds)
    requests[name] = await spentBy(server, rounds, () => repeat(ask, rounds))
  }
  return requests
}

async function measureStatements(server: ThrowAwayServer): Promise<Record<string, number>> {
  const { serverUrl, close } = await connectEmbedded(server.dataDir, { log: () => {} })
  const pool = new pg.Pool({ connectionString: serverUrl, max: 1, idleTimeoutMillis: 0 })
  try {
    const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
    const pids = rows.map(({ pid }) => pid)
    const statements: Record<string, number> = {}
    for (const [name, work] of Object.entries(workOf(pool))) {
      await work()
      const before = runMs(pids)
      await repeat(work, rounds)
      statements[name] = rounded((runMs(pids) - before) / rounds)
    }
    return statements
  } finally {
    await pool.end()
    await close()
  }
}

const rounds = 20

async function repeat(work: () => Promise<unknown>, times: number): Promise<void> {
  for (let round = 0; round < times; round += 1) await work()
}

/** What the server and its PostgreSQL take while this is done, for each of `parts`. A process that ends hands its time to the postmaster. */
async function spentBy(server: ThrowAwayServer, parts: number, work: () => Promise<unknown>): Promise<Spent> {
  const read = () => ({
    postgres: runMs(server.postgresPids()) + endedCpuTimeMs(server.postmasterPid()),
    process: runMs([server.pid()]),
  })
  const before = read()
  await work()
  const after = read()
  return {
    postgres: rounded((after.postgres - before.postgres) / parts),
    process: rounded((after.process - before.process) / parts),
  }
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
