import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { somePortal } from '../testing/test-portal.ts'
import { openStream } from './testing/test-stream.ts'

/** Streams in all; BRIDGEWORK_LIVE_STREAMS for another number. */
const streams = Number(process.env.BRIDGEWORK_LIVE_STREAMS ?? 50)
const streamsOfPerson = 5
const practices = 5
const changes = 20

test('many open pages hear of a change within 2 s, and cost little while nothing changes', async (t) => {
  const world = await somePortal(t)
  const organizationIds = await Promise.all(Array.from({ length: practices }, () => world.addOrganization()))
  const placeOf = (index: number) => organizationIds[index % practices] ?? assert.fail('no practice')
  const pages = []
  for (let index = 0; index < streams / streamsOfPerson; index++) {
    const tenantId = placeOf(index)
    const person = await world.signInAs({ organizationId: tenantId }, index < practices ? 'owner' : 'admin')
    const opened = await Promise.all(
      Array.from({ length: streamsOfPerson }, () => openStream(t, { url: world.url, cookie: person.cookie, tenantId })),
    )
    pages.push({ tenantId, person, opened })
  }
  const all = pages.flatMap(({ opened }) => opened)
  for (const { response } of all) assert.equal(response.status, 200)
  await wait(2_000)

  const idleMs = 5_000
  const before = process.cpuUsage()
  await wait(idleMs)
  const { user, system } = process.cpuUsage(before)
  const share = (user + system) / 1000 / idleMs

  const heardMs: number[] = []
  for (let index = 0; index < changes; index++) {
    const { tenantId, person } = pages[index % practices] ?? assert.fail('no page')
    const ofTenant = pages.filter((each) => each.tenantId === tenantId).flatMap(({ opened }) => opened)
    const from = ofTenant.map(({ events }) => events.length)
    await person.patch(`/organizations/${tenantId}`, { name: `Name ${index}`, time_zone: null })
    const committedMs = performance.now()
    const heard = await Promise.all(ofTenant.map((page, at) => page.hears('settings', from[at])))
    heardMs.push(...heard.map(({ atMs }) => Math.max(0, atMs - committedMs)))
  }
  heardMs.sort((one, other) => one - other)
  const [p50, p95] = [0.5, 0.95].map((part) => Math.round(heardMs[Math.floor(part * heardMs.length)] ?? 0))
  t.diagnostic(
    `${all.length} streams: heard after ${p50} ms (p50), ${p95} ms (p95); ${Math.round(share * 1000) / 10} % of a core in peace`,
  )
  assert.ok((p95 ?? 0) < 2_000, `${p95} ms`)
  assert.ok(share < 0.5, `${share} of a core`)
})
