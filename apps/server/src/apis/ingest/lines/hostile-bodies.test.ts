import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ingestUrl } from '@bridgework/contract/ingest'
import { createSecretKey } from '../../../modules/credentials/secret.ts'
import { startCommand } from '../../../testing/test-start-command.ts'
import { someWorld, type TestWorld } from '../../../testing/test-world.ts'
import { type ServerLoad, startServerProcess } from '../../vendor-api/testing/test-server.ts'
import { startBystander, type Waited } from '../testing/test-bystander.ts'
import { type HostileBody, hostileBodies } from '../testing/test-hostile-bodies.ts'

/** How long each body is sent again and again (0: each variant once), and by how many agents at once. `npm run soak -- G08` asks for more. */
const [seconds = 0, agentsAtOnce = 2] = (process.env.BRIDGEWORK_TEST_HOSTILE ?? '0,2').split(',').map(Number)

/** Waiting times on the wall clock are held in the long run alone, which has enough of them and a machine of its own. */
const isLong = seconds > 0
const most = { stallMs: 250, healthMs: 250, pageMs: 500 }

/** Node's own heap grows with the machine before it collects: then the process may have more. */
for (const { isShipped, memoryMb } of [
  { isShipped: false, memoryMb: 600 },
  { isShipped: true, memoryMb: 450 },
]) {
  const named = isShipped ? 'started as `npm start` does' : "with Node's own heap"
  test(`the worst bodies of every ingest route keep no other caller waiting, ${named}`, async (t) => {
    const secret = randomBytes(32)
    const world = await someWorld(t, { secretKey: createSecretKey(secret) })
    const server = await startServerProcess(t, world, secret, isShipped ? { start: startCommand() } : {})
    const offices = await Promise.all(Array.from({ length: agentsAtOnce }, () => anOffice(world)))
    const read = await world.addLocation({ insurancePlans: 200 })
    const vendor = await world.addVendor([read])
    const page = `/api/v1/vendors/locations/${read.id}/insurance_plans?items=100`
    const bystander = await startBystander(t, { url: server.url, page, token: await vendor.token() })
    const missed: string[] = []
    const measure = async (name: string, work: () => Promise<string>) => {
      await server.load()
      await bystander.waited()
      const begun = performance.now()
      const done = await work()
      const figures = { ...(await bystander.waited()), ...(await server.load()) }
      t.diagnostic(`${name}: ${done} in ${Math.round(performance.now() - begun)} ms; ${inWords(figures)}`)
      if (isOver(figures) || figures.memoryMb >= memoryMb) missed.push(`${name}: ${inWords(figures)}`)
    }

    await measure('no other request', async () => {
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      return 'nothing'
    })
    for (const body of hostileBodies()) {
      const name = `${body.route}, ${body.what}`
      const bytes = body.variants.map((make) =>
        body.isPacked === false ? new TextEncoder().encode(make()) : gzipSync(make(), { level: 1 }),
      )
      const statuses = new Map<number, number>()
      await measure(name, async () => {
        const until = performance.now() + seconds * 1000
        for (let time = 0; time < bytes.length || performance.now() < until; time++) {
          const answers = await Promise.all(
            offices.map((office) => office.send(server.url, body, bytes[time % bytes.length])),
          )
          for (const { status, text } of answers) {
            // 503: other large bodies were before it, and an agent sends it again.
            assert.ok(body.statuses.includes(status) || status === 503, `${name}: ${status} ${text}`)
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
          }
        }
        return [...statuses].map(([status, times]) => `${times} × ${status}`).join(', ')
      })
      assert.ok(
        body.statuses.some((status) => statuses.has(status)),
        `${name}: only ${[...statuses.keys()]}`,
      )
    }

    const peakMb = (await server.peakMemory()) / 2 ** 20
    t.diagnostic(`${Math.round(peakMb)} MB at most`)
    assert.deepEqual(missed, [])
    assert.ok(peakMb < memoryMb, `${peakMb} MB`)
  })
}

function isOver({ stallMs, health, page }: Waited & ServerLoad): boolean {
  const isSlow = health >= most.healthMs || page >= most.pageMs
  return stallMs >= most.stallMs || (isLong && isSlow)
}

function inWords({ health, page, answers, stallMs, cpuMs, memoryMb }: Waited & ServerLoad): string {
  const waited = `p99 of ${answers} answers: /healthz ${Math.round(health)} ms, page ${Math.round(page)} ms`
  return `${waited}; event loop ${Math.round(cpuMs)} ms of CPU, at most ${Math.round(stallMs)} ms at once; ${Math.round(memoryMb)} MB`
}

/** An office with an agent that sends hostile bodies. */
async function anOffice(world: TestWorld) {
  const { id, organizationId } = await world.addLocation()
  const agent = await world.addAgent(organizationId)
  const begun = await world.post(`/locations/${id}/insurance_plans/complete_lists`, agent, { began_at_upload: 1 })
  const place = {
    location_id: id,
    organization_id: organizationId,
    list_id: String(begun.body.list_id),
    version: '',
    number: '',
  }
  let number = 0
  const send = (url: string, body: HostileBody, bytes: Uint8Array<ArrayBuffer> | undefined) => {
    number += 1
    return world.request(ingestUrl(body.route, { ...place, dataset: body.dataset }), {
      on: url,
      method: 'POST',
      headers: {
        authorization: `Bearer ${agent.agentKey}`,
        'content-type': body.type,
        ...(body.isPacked === false ? {} : { 'content-encoding': 'gzip' }),
        'idempotency-key': `${agent.agentId}-${number}`,
      },
      body: bytes ?? null,
    })
  }
  return { send }
}
