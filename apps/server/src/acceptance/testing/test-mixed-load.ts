import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { vendorApiPath } from '@bridgework/contract'
import type { createRandom } from '@bridgework/practice-simulator'
import type { Pool } from 'pg'
import { type PortalWorld, somePortal } from '../../apis/portal/testing/test-portal.ts'
import { createSecretKey } from '../../modules/credentials/secret.ts'
import { ownerRole } from '../../platform/database/embedded/cluster.ts'
import { aPlan, type TestLocation, type TestVendor, toNdjson } from '../../testing/test-world.ts'
import { findEntryFaults, readEntries } from './test-entry-faults.ts'
import { type Ask, asPeople, asVendor, fillPractices } from './test-mixed-requests.ts'
import { someProduction } from './test-production.ts'
import { createRecorder, type Recorder } from './test-recorded-requests.ts'

type Addresses = { serverUrl: string; url: string }

/**
 * A service in production of several processes, asked by `vendors` vendors and by people until `requests` were sent, while an agent uploads all the time
 * through the same processes. `addressesOf`: where they find the world's database, with more settings.
 */
export async function someMixedLoad(
  t: TestContext,
  options: {
    requests: number
    processes: number
    vendors: number
    random: ReturnType<typeof createRandom>
    addressesOf?: (world: PortalWorld, own: Addresses) => Promise<Addresses & { settings: NodeJS.ProcessEnv }>
  },
) {
  const { requests, processes, random, addressesOf } = options
  const secret = randomBytes(32)
  const world = await somePortal(t, { secretKey: createSecretKey(secret), publicUrl: 'https://api.example.com' })
  const practices = await fillPractices(world)
  // The world's own `url` is its server's; every role of a test's database has the same password.
  const owner = Object.assign(new URL(world.serverUrl), { username: ownerRole })
  const own = { serverUrl: world.serverUrl, url: owner.href }
  const { settings: more, ...database } = (await addressesOf?.(world, own)) ?? { ...own, settings: {} }
  const production = await someProduction(t, { database, secret })
  const sealsDir = join(production.dataDir, 'seals')
  const settings = { BRIDGEWORK_SEALS_DIR: sealsDir, BRIDGEWORK_PREVIEW_OPERATIONS: 'insurance_plans', ...more }
  const start = () => production.startProcess(settings)
  const servers: Awaited<ReturnType<typeof start>>[] = []
  // One after the other: the first one makes what they share.
  for (let count = 0; count < processes; count += 1) servers.push(await start())
  const recorder = createRecorder(servers)
  const { attempts, sent } = recorder
  const clients = [await asPeople(recorder, random, world, practices.own)]
  const vendors: TestVendor[] = []
  for (let count = 0; count < options.vendors; count += 1) {
    const added = await world.addVendor([practices.own])
    const token = await added.token()
    // Also while the world's own server has no database.
    const vendor = { ...added, token: async () => token }
    vendors.push(vendor)
    clients.push(asVendor(recorder, random, vendor, practices))
  }
  const { rows } = await world.pool.query(
    'select (select coalesce(max(id), 0) from disclosure) as disclosure, (select coalesce(max(id), 0) from audit_event) as act',
  )
  const isOver = () => sent() >= requests
  const askUntilEnough = async (asks: readonly Ask[]) => {
    while (!isOver()) await random.pick(asks)()
  }

  return {
    ...{ world, production, servers, start, sealsDir, random, attempts, sent, vendors, own: practices.own },
    /** Asks and uploads until it is enough, with `strike` meanwhile, and stops the processes. */
    run: async (strike: () => Promise<void>) => {
      const uploaded = upload(practices.own, servers, isOver)
      const copied = follow(recorder, vendors[0] as TestVendor, practices.own, uploaded)
      await Promise.all([...clients.map(askUntilEnough), uploaded, copied, strike()])
      // Orderly, so that the last one seals what is left.
      for (const { kill } of servers) assert.equal((await kill('SIGTERM')).code, 0)
      return { ...(await uploaded), lost: await copied }
    },
    /** What is on record in a database, and what of it is not as the clients saw it. */
    faults: async (pool: Pool) => {
      const entries = await readEntries(pool, rows[0])
      return { entries, ...findEntryFaults(attempts, entries) }
    },
    count: (outcome: string) => attempts.filter((attempt) => attempt.outcome === outcome).length,
    /** Answers that no request of the mix may get. */
    disorderly: () => {
      const orderly = [null, 200, 400, 401, 403, 404, 409, 422, 429, 503]
      return attempts.flatMap(({ status, path }) => (orderly.includes(status) ? [] : [`${status} ${path}`]))
    },
  }
}

/** How many uploads were acknowledged, and the longest time from one that was refused to the next that was not. */
type Uploaded = { acknowledged: number; outageMs: number }

/** A new plan in each upload, sent to one process after the other under one number until it is acknowledged. */
async function upload(
  { id, agent }: TestLocation,
  servers: readonly { port: number }[],
  isOver: () => boolean,
): Promise<Uploaded> {
  const uploaded = { acknowledged: 0, outageMs: 0 }
  let turn = 0
  const send = async (number: number) => {
    turn += 1
    const url = `http://127.0.0.1:${servers[turn % servers.length]?.port}/ingest/v1/locations/${id}/insurance_plans/records`
    const headers = {
      authorization: `Bearer ${agent.agentKey}`,
      'content-type': 'application/x-ndjson',
      'content-encoding': 'gzip',
      'idempotency-key': `${agent.agentId}-${2_000_000 + number}`,
    }
    const body = gzipSync(toNdjson({ [`upload-${number}`]: aPlan({ plan_name: nameOf(number) }) }))
    const answer = await fetch(url, { method: 'POST', headers, body })
    const text = await answer.text()
    assert.ok([200, 503].includes(answer.status), `an upload was answered ${answer.status} ${text}`)
    return answer.ok
  }
  while (!isOver()) {
    const begunAt = performance.now()
    // No answer: its process was killed.
    while (
      !(await send(uploaded.acknowledged + 1).catch((error) =>
        error instanceof TypeError ? false : Promise.reject(error),
      ))
    )
      await sleep(20)
    uploaded.acknowledged += 1
    uploaded.outageMs = Math.max(uploaded.outageMs, performance.now() - begunAt)
    await sleep(50)
  }
  return uploaded
}

function nameOf(number: number): string {
  return `Uploaded ${number}`
}

/** A vendor's copy that follows by deltas alone. Returns which uploads are not in it when all are over. */
async function follow(
  { fetchAs }: Recorder,
  vendor: TestVendor,
  location: TestLocation,
  uploaded: Promise<Uploaded>,
): Promise<string[]> {
  const recorded = fetchAs(vendor.companyId)
  const names = new Set<unknown>()
  let since = new Date(0).toISOString()
  const token = await vendor.token()
  const catchUp = async () => {
    let next: string | null = null
    for (let after: string | null = '0'; after !== null; ) {
      const query = new URLSearchParams({ 'q[fetch_modified_since]': since, items: '100', after })
      const path = `${vendorApiPath}/locations/${location.id}/insurance_plans?${query}`
      const answer = await recorded(`http://servers.example${path}`, { headers: { authorization: `Bearer ${token}` } })
      if (!answer.ok) return false
      const { data, meta } = (await answer.json()) as {
        data: { attributes: { plan_name: string } }[]
        meta: { next_after: string | null; next_fetch_modified_since: string | null }
      }
      for (const { attributes } of data) names.add(attributes.plan_name)
      next ??= meta.next_fetch_modified_since
      after = meta.next_after
    }
    since = next ?? since
    return true
  }
  let isOver = false
  uploaded
    .finally(() => {
      isOver = true
    })
    .catch(() => {})
  for (let isLast = false; ; ) {
    const isDone = await catchUp().catch(() => false)
    if (isLast && isDone) break
    isLast = isOver
    await sleep(100)
  }
  const { acknowledged } = await uploaded
  return Array.from({ length: acknowledged }, (_, index) => nameOf(index + 1)).filter((name) => !names.has(name))
}
