import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { getDataset } from '@bridgework/contract'
import { Bridgework, sqliteStore } from '../../../packages/client/src/index.ts'
import { cpuClock } from '../cpu-time.ts'
import { createWorld, runSql, type World } from '../world/practice.ts'
import { createThrowAwayServer, type ThrowAwayServer } from '../world/throw-away-server.ts'
import { packLines, sendUpload } from '../world/upload.ts'

const usage = `npm run bench:changes -- [--locations <n>] [--seconds <n>] [--changes <n>]
  --locations  locations that the vendor may read (1000)
  --seconds    how long it waits, and how long changes come (50)
  --changes    datasets that change in a second (50)`

const folder = mkdtempSync(join(tmpdir(), 'bridgework-bench-changes-'))
let server: ThrowAwayServer | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
    process.exit(130)
  })
}
try {
  const { values } = parseArgs({
    options: { locations: { type: 'string' }, seconds: { type: 'string' }, changes: { type: 'string' } },
  })
  server = await createThrowAwayServer()
  await bench(server, {
    locations: Number(values.locations ?? 1000),
    seconds: Number(values.seconds ?? 50),
    changes: Number(values.changes ?? 50),
  })
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  process.exitCode = 2
} finally {
  await server?.remove()
  rmSync(folder, { recursive: true, force: true })
}

type Options = { locations: number; seconds: number; changes: number }
type Row = { id: string; type: string; attributes: { next_fetch_modified_since: string } }

async function bench(server: ThrowAwayServer, options: Options): Promise<void> {
  const { locations, seconds } = options
  await server.start()
  const world = await createWorld(server, { locations })
  // As after a first read of everything.
  await runSql(
    world.ownerUrl,
    `update dataset_grant g set granted_stamp = s.first_stamp from dataset_state s where s.location_id = g.location_id and s.dataset = g.dataset`,
  )
  await runSql(world.adminUrl, 'vacuum analyze')
  // Rows of the last 15 seconds are repeated.
  await sleep(16_000)
  const clock = cpuClock(() => [server.pid()], server)
  const vendor = createVendor(world)

  const measure = async (work: () => Promise<unknown>) => {
    const before = { cpu: clock() ?? 0, at: performance.now(), ...vendor.count() }
    await work()
    const { requests, bytes } = vendor.count()
    const ms = performance.now() - before.at
    return { requests: requests - before.requests, bytes: bytes - before.bytes, cpuMs: (clock() ?? 0) - before.cpu, ms }
  }
  const show = (what: string, { requests, bytes, cpuMs, ms }: Awaited<ReturnType<typeof measure>>) =>
    console.log(
      `${what.padEnd(44)} ${String(requests).padStart(6)} requests ${(bytes / 1000).toFixed(1).padStart(9)} kB ${String(cpuMs).padStart(7)} ms of processor time ${(ms / 1000).toFixed(1).padStart(6)} s`,
    )

  const rows: Row[] = []
  let after = ''
  const whole = await measure(async () => {
    for (let hasMore = true; hasMore; ) {
      const { data, meta } = await vendor.ask(`/changes?items=5000${after && `&after=${after}`}`)
      rows.push(...data)
      after = meta.next_after
      hasMore = meta.has_more
    }
  })
  show('all that there is', whole)
  show('a round in peace', await measure(() => vendor.ask(`/changes?items=5000&after=${after}`)))
  const idle = await measure(() => sleep(seconds * 1000))
  show(`nobody asks, ${seconds} s`, idle)
  const waiting = await measure(async () => {
    for (const end = performance.now() + seconds * 1000; performance.now() < end - 1_000; )
      after = (await vendor.ask(`/changes?items=5000&after=${after}&wait=25`)).meta.next_after
  })
  show(`waiting, ${seconds} s`, waiting)
  const datasets = rows.filter(({ type }) => type === 'dataset')
  const polling = await measure(() =>
    atOnce(8, datasets, async ({ id, attributes }) => {
      const since = encodeURIComponent(attributes.next_fetch_modified_since)
      await vendor.ask(`/locations/${id}?q%5Bfetch_modified_since%5D=${since}`)
    }),
  )
  show('a round of polling in peace', polling)
  const anHour = 3_600_000 / waiting.ms
  const cpuOfWaiting = Math.max(0, waiting.cpuMs - (idle.cpuMs * waiting.ms) / idle.ms)
  console.log(
    `An hour of waiting: ${Math.round(waiting.requests * anHour)} requests, ${((waiting.bytes * anHour) / 1000).toFixed(0)} kB, ${((cpuOfWaiting * anHour) / 1000).toFixed(1)} s of processor time more than when nobody asks.`,
  )
  console.log(
    `An hour of polling every minute: ${polling.requests * 60} requests, ${((polling.bytes * 60) / 1e6).toFixed(0)} MB, ${((polling.cpuMs * 60) / 1000).toFixed(0)} s of processor time.`,
  )
  vendor.close()
  await changeAndFollow(world, options)
}

/** A mirror follows while datasets change: how long after its upload was answered, and so committed, a record is in the mirror. */
async function changeAndFollow(world: World, { seconds, changes }: Options): Promise<void> {
  const { server, vendor, locationIds } = world
  const client = new Bridgework({ baseUrl: server.url, clientId: vendor.clientId, clientSecret: vendor.clientSecret })
  const store = await sqliteStore(join(folder, 'copy.sqlite'))
  const committedAt = new Map<string, number>()
  const lateness: number[] = []
  const stop = new AbortController()
  const { signal } = stop
  await client.sync({ store })
  const following = (async () => {
    for await (const { news } of client.changes.follow({ signal })) {
      if (news.length === 0) continue
      const copied: string[] = []
      await client.sync({
        store,
        signal,
        onEvent(event) {
          if (event.event !== 'page') return
          for (const { attributes } of event.records) copied.push(`${event.locationId} ${attributes.source_id}`)
          // The page is in the mirror when its event comes.
          const now = performance.now()
          for (const key of copied.splice(0)) {
            const at = committedAt.get(key)
            if (at !== undefined) lateness.push(now - at)
          }
        },
      })
    }
  })().catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  await sleep(3_000)
  const beganAt = performance.now()
  let number = 0
  const sending = new Set<Promise<void>>()
  for (; performance.now() - beganAt < seconds * 1000; ) {
    number += 1
    const locationId = locationIds[(number * 7919) % locationIds.length] ?? ''
    const source_id = `c${number}`
    const body = packLines([{ source_id, attributes: getDataset('patients').example }])
    const sent = sendUpload(world, { locationId, dataset: 'patients', number, body }).then(({ status, text: said }) => {
      if (status !== 200) throw new Error(`The upload was refused: ${status} ${said}`)
      committedAt.set(`${locationId} ${source_id}`, performance.now())
      sending.delete(sent)
    })
    sending.add(sent)
    await sleep(Math.max(0, beganAt + (number * 1000) / changes - performance.now()))
  }
  await Promise.all(sending)
  await sleep(4_000)
  stop.abort()
  await following
  await store.close()
  lateness.sort((one, other) => one - other)
  const at = (share: number) => ((lateness[Math.floor(lateness.length * share)] ?? Number.NaN) / 1000).toFixed(2)
  console.log(
    `${number} uploads, ${(number / seconds).toFixed(0)} a second: ${lateness.length} seen after their answer, p50 ${at(0.5)} s, p95 ${at(0.95)} s, the last ${at(0.9999)} s later.`,
  )
}

/** Requests of a vendor, with what went over its connections in both directions. */
function createVendor({ server, vendor }: World) {
  const sockets = new Set<Socket>()
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const headers = { authorization: `Bearer ${vendor.token}`, 'user-agent': 'bench' }
  let requests = 0
  return {
    count: () => ({
      requests,
      bytes: [...sockets].reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0),
    }),
    async ask(path: string): Promise<{ data: Row[]; meta: { next_after: string; has_more: boolean } }> {
      requests += 1
      const body = await new Promise<string>((resolve, reject) => {
        const request = get(server.vendorUrl + path, { agent, headers }, (response) => {
          text(response).then(resolve, reject)
          if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`))
        })
        request.on('socket', (socket) => sockets.add(socket)).on('error', reject)
      })
      return JSON.parse(body)
    },
    close: () => agent.destroy(),
  }
}

async function atOnce<Item>(most: number, items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items]
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: most }, worker))
}
