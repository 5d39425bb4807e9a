import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { datasetNames, vendorApiPath } from '@bridgework/contract'
import { portalApiPath } from '@bridgework/contract/portal'
import { createSecretKey } from '../modules/credentials/secret.ts'
import { passwordHash } from '../modules/sign-in/password/password-hash.ts'
import { openConnection } from '../platform/http/testing/test-connection.ts'
import { listRoutes } from '../platform/http/testing/test-routes.ts'
import { startCommand } from '../testing/test-start-command.ts'
import { aPlan, aRecord } from '../testing/test-world.ts'
import { startBystander } from './ingest/testing/test-bystander.ts'
import { type PortalWorld, type SignedIn, somePortal } from './portal/testing/test-portal.ts'
import { type Route, type WorstRequest, worstRequests } from './testing/test-worst-requests.ts'
import { startServerProcess } from './vendor-api/testing/test-server.ts'

/** How long each route is sent its worst requests again and again, and by how many callers at once: `npm run soak -- G08`. */
const [seconds = 0, callers = 2] = (process.env.BRIDGEWORK_TEST_WORST ?? '0,2').split(',').map(Number)
const isLong = seconds > 0
const most = { stallMs: 250, waitedMs: 250, memoryMb: 450 }

if (!isLong) {
  test('the first and the last of the worst requests of every route get an answer, and never 500', async (t) => {
    const world = await somePortal(t, { passwordHash })
    const { failed, unasked, send, fill } = await someTrial(world, world.url, 500)
    for (const route of routesOf(world)) {
      const requests = worstRequests(route, fill)
      await Promise.all([requests[0], requests.at(-1)].map((each) => each && send(route, each)))
    }
    assert.deepEqual([failed, unasked()], [[], []])
  })
}

for (const isShipped of isLong ? [false, true] : []) {
  const named = isShipped ? 'started as `npm start` does' : "with Node's own heap"
  test(`the worst requests of every route but the agents' delay no other request, ${named}`, async (t) => {
    const secret = randomBytes(32)
    const world = await somePortal(t, { secretKey: createSecretKey(secret), passwordHash })
    const server = await startServerProcess(t, world, secret, isShipped ? { start: startCommand() } : {})
    const { failed, unasked, send, fill } = await someTrial(world, server.url, 5_000)
    const read = await world.addLocation({ insurancePlans: 200 })
    const bystander = await world.addVendor([read])
    const page = `${vendorApiPath}/locations/${read.id}/insurance_plans?items=100`
    const watch = await startBystander(t, { url: server.url, page, token: await bystander.token() })
    const routes = routesOf(world)
    const missed: string[] = []
    const measure = async (name: string, work: () => Promise<string>) => {
      await server.load()
      await watch.waited()
      const done = await work()
      const load = await server.load()
      const waited = await watch.waited()
      const figures = `${ms(load.stallMs)} | ${ms(waited.health)} | ${ms(waited.page)} | ${Math.round(load.memoryMb)} MB`
      t.diagnostic(`| ${name} | ${done} | ${figures} |`)
      const isSlow = waited.health >= most.waitedMs || waited.page >= most.waitedMs
      // Memory is bounded as the service is started.
      const isLarge = isShipped && load.memoryMb >= most.memoryMb
      if (load.stallMs >= most.stallMs || isLarge || isSlow) missed.push(`${name}: ${figures}`)
    }
    const all = async (route: Route) => {
      const requests = worstRequests(route, fill)
      const until = performance.now() + seconds * 1000
      const statuses = new Map<number, number>()
      let next = 0
      const caller = async () => {
        while (next < requests.length || performance.now() < until) {
          const request = requests[next % requests.length]
          next += 1
          if (!request) return
          const status = await send(route, request)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      }
      await Promise.all(Array.from({ length: callers }, caller))
      return [...statuses]
        .sort()
        .map(([status, times]) => `${times} × ${status}`)
        .join(', ')
    }

    await measure('no other request', async () => {
      await sleep(3_000)
      return ''
    })
    for (const route of routes) await measure(patternOf(route), () => all(route))
    assert.deepEqual([failed, missed, unasked()], [[], [], []])
  })
}

if (isLong) {
  test('900 readers that stall within a page of 14 MB are cut, and meanwhile others are served', async (t) => {
    const secret = randomBytes(32)
    const world = await somePortal(t, { secretKey: createSecretKey(secret), passwordHash })
    const server = await startServerProcess(t, world, secret, { start: startCommand() })
    const locations = await Promise.all([1, 2, 3].map(() => aLargeLocation(world, 5_000)))
    const read = await world.addLocation({ insurancePlans: 200 })
    const token = await (await world.addVendor([read])).token()
    const page = `${vendorApiPath}/locations/${read.id}/insurance_plans?items=100`
    const watch = await startBystander(t, { url: server.url, page, token })
    const stalled: Socket[] = []
    const begun = performance.now()
    for (const location of locations) {
      const vendor = await world.addVendor([location])
      const path = `${vendorApiPath}/locations/${location.id}/insurance_plans?items=5000`
      const text = `GET ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${await vendor.token()}\r\n\r\n`
      for (let count = 0; count < 300; count += 1) {
        const socket = await openConnection(t, server.port)
        socket.pause()
        socket.write(text)
        stalled.push(socket)
      }
    }
    const ready: number[] = []
    while (performance.now() - begun < 45_000) {
      const asked = performance.now()
      assert.equal((await world.request('/readyz', { on: server.url })).status, 200)
      ready.push(performance.now() - asked)
      await sleep(20)
    }
    // Only now are the answers read: a reader that was cut finds its connection reset within the page.
    const received = await Promise.all(stalled.map(bytesOf))
    const pages = received.filter((bytes) => bytes > 10_000)
    const waited = await watch.waited()
    const p99 = ready.sort((a, b) => a - b)[Math.floor(ready.length * 0.99)] ?? 0
    const peakMb = (await server.peakMemory()) / 2 ** 20
    const cut = pages.filter((bytes) => bytes < 13_000_000).length
    t.diagnostic(
      `${pages.length} pages begun, ${cut} cut; p99: /readyz ${ms(p99)}, /healthz ${ms(waited.health)}, page ${ms(waited.page)}; ${Math.round(peakMb)} MB at most`,
    )
    assert.ok(cut > 0 && cut === pages.length, `${cut} of ${pages.length} were cut`)
    assert.ok(peakMb < most.memoryMb && p99 < most.waitedMs && waited.health < most.waitedMs && waited.page < 500)
  })

  test('1,000 callers that send their headers slowly are closed within ten seconds', async (t) => {
    const secret = randomBytes(32)
    const world = await somePortal(t, { secretKey: createSecretKey(secret), passwordHash })
    const server = await startServerProcess(t, world, secret)
    const slow = await Promise.all(Array.from({ length: 1_000 }, () => openConnection(t, server.port)))
    const begun = performance.now()
    const trickle = setInterval(() => {
      for (const socket of slow) if (socket.writable) socket.write('X: ')
    }, 500)
    t.after(() => clearInterval(trickle))
    for (const socket of slow) socket.write('GET / HTTP/1.1\r\n')
    await sleep(1_000)
    assert.equal((await world.request('/readyz', { on: server.url })).status, 200)
    await Promise.all(slow.map(bytesOf))
    const seconds = (performance.now() - begun) / 1000
    t.diagnostic(`closed after ${seconds.toFixed(1)} s`)
    assert.ok(seconds < 10, `${seconds} s`)
  })
}

/** What arrives until the connection ends. */
async function bytesOf(socket: Socket): Promise<number> {
  let bytes = 0
  socket.on('data', (piece: Buffer) => {
    bytes += piece.length
  })
  socket.resume()
  if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve).once('end', resolve))
  return bytes
}

const ms = (value: number) => `${Math.round(value)} ms`
const patternOf = ({ method, pattern }: Route) => `${method} ${pattern}`

/** Every route of the server, but those of agents, which hostile-bodies.test.ts tries. The one that ends the session is the last. */
function routesOf(world: PortalWorld): Route[] {
  const routes = listRoutes(world.app).map((text) => {
    const [method = '', pattern = ''] = text.split(' ')
    return { method, pattern }
  })
  const isLast = ({ pattern }: Route) => (pattern.endsWith('/sign-out') ? 1 : 0)
  return routes.filter(({ pattern }) => !pattern.startsWith('/ingest/')).sort((a, b) => isLast(a) - isLast(b))
}

/** Sends requests to the server at `url`, and notes which got 500, and which routes gave no answer. */
async function someTrial(world: PortalWorld, url: string, plans: number) {
  const { callerOf, fill } = await someCallers(world, plans)
  const failed: string[] = []
  const asked = new Set<string>()
  return {
    fill,
    failed,
    unasked: () =>
      routesOf(world)
        .map(patternOf)
        .filter((pattern) => !asked.has(pattern)),
    async send(route: Route, { path, headers, body }: WorstRequest): Promise<number> {
      const { method } = route
      const init = { method, headers: { ...callerOf(route), ...headers }, ...(body !== undefined && { body }) }
      // A refusal ends the connection of a body that is still on its way.
      const answer = await fetch(`${url}${path}`, { redirect: 'manual', ...init }).catch(() => null)
      await answer?.bytes().catch(() => null)
      if (!answer) return 0
      asked.add(patternOf(route))
      const { status } = answer
      if (status >= 500 && status !== 503) failed.push(`${status} ${method} ${path.slice(0, 200)}`)
      return status
    },
  }
}

/** A company with a page of 14 MB, a practice and an operator, and what each sends with its requests. */
async function someCallers(world: PortalWorld, plans: number) {
  const location = await aLargeLocation(world, plans)
  for (const name of datasetNames.filter((each) => each !== 'insurance_plans')) {
    await location.upload(name, Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`r${i}`, aRecord(name)])))
  }
  const vendor = await world.addVendor([location])
  const people = {
    company: await headersOf(await world.signInAs({ companyId: vendor.companyId }, 'owner')),
    organization: await headersOf(await world.signInAs({ organizationId: location.organizationId }, 'owner')),
    operator: await headersOf(await world.signInAs('operator', 'admin')),
  }
  const ids: Record<string, string> = {
    company_id: vendor.companyId,
    organization_id: location.organizationId,
    location_id: location.id,
    tenant_id: vendor.companyId,
    dataset: 'insurance_plans',
    script: 'a'.repeat(22),
    id: '1',
    '*': 'index.html',
  }
  const token = await vendor.token()
  return {
    fill: (pattern: string) =>
      pattern.replace(/:(\w+)|\*/g, (found, name: string | undefined) => ids[name ?? found] ?? randomUUID()),
    callerOf({ pattern }: Route): Record<string, string> {
      if (pattern.startsWith(vendorApiPath)) return { authorization: `Bearer ${token}` }
      if (!pattern.startsWith(portalApiPath)) return {}
      if (pattern.startsWith(`${portalApiPath}/operator`)) return people.operator
      return pattern.startsWith(`${portalApiPath}/organizations`) ? people.organization : people.company
    },
  }
}

async function aLargeLocation(world: PortalWorld, plans: number) {
  const location = await world.addLocation()
  const wide = 'w'.repeat(500)
  const plan = aPlan({ plan_name: wide, group_number: wide, carrier_name: wide, payer_id: wide, employer_name: wide })
  await location.upload('insurance_plans', Object.fromEntries(Array.from({ length: plans }, (_, i) => [`p${i}`, plan])))
  return location
}

async function headersOf(person: SignedIn) {
  return { cookie: person.cookie, origin: 'http://localhost', 'x-csrf-token': await person.csrfToken() }
}
