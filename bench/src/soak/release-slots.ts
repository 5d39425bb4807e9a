import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '../world/practice.ts'
import { packLines, planLine, sendUpload } from '../world/upload.ts'
import { inWorld } from './in-world.ts'

const freeWithinMs = 30_000
const slots = 5

/** C08: SIGKILL of a server with all of a company's slots in flight; at the latest 30 s later all can be had again. */
export async function releaseSlots(): Promise<string> {
  return inWorld({ locations: slots + 1 }, async (world) => {
    await fillLocations(world)
    const [other = '', ...busy] = world.locationIds
    const readers = await Promise.all(busy.map((locationId) => startStalledReader(world, locationId)))
    try {
      await untilAllHeld(readers)
      assert.equal(await readOne(world, other), 429)
      await world.server.kill()
      const killedAt = performance.now()
      await world.server.start()
      for (const locationId of busy) assert.equal(await readOne(world, locationId), 200)
      while ((await readOne(world, other)) !== 200) {
        assert.ok(performance.now() - killedAt < freeWithinMs, 'still refused 30 s after the kill')
        await sleep(100)
      }
      return `a sixth location could be read ${Math.round(performance.now() - killedAt)} ms after the kill`
    } finally {
      for (const reader of readers) reader.destroy()
    }
  })
}

/** Answers that no kernel buffer holds whole, so that a reader who takes nothing keeps its request in flight. */
async function fillLocations(world: World): Promise<void> {
  const long = 'x'.repeat(500)
  const lines = Array.from({ length: 1_500 }, (_, index) => {
    const line = planLine(index + 1)
    return { ...line, attributes: { ...line.attributes, plan_name: long, group_number: long, employer_name: long } }
  })
  const body = packLines(lines)
  for (const [index, locationId] of world.locationIds.entries()) {
    const { status } = await sendUpload(world, { locationId, dataset: 'insurance_plans', number: index + 1, body })
    assert.equal(status, 200)
  }
}

/** Asks for whole pages, several behind one another, and takes nothing of them. */
async function startStalledReader(world: World, locationId: string): Promise<Socket> {
  const { hostname, port, pathname } = new URL(world.server.vendorUrl)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  const request = `GET ${pathname}/locations/${locationId}/insurance_plans?items=1500 HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${world.vendor.token}\r\n\r\n`
  // Two do not fit into the system's buffers. More of all readers would be more than a company may have in progress.
  socket.write(request.repeat(2))
  return socket
}

/** Each has had the first bytes of a page, so holds its slot. Nobody else may ask before: that request would hold one meanwhile. */
async function untilAllHeld(readers: readonly Socket[]): Promise<void> {
  const until = performance.now() + 10_000
  while (readers.some((reader) => reader.bytesRead < 10_000)) {
    if (performance.now() > until) throw new Error('the stalled readers were not answered')
    await sleep(20)
  }
}

async function readOne(world: World, locationId: string): Promise<number> {
  const url = `${world.server.vendorUrl}/locations/${locationId}/insurance_plans?items=1`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${world.vendor.token}` } })
  await answer.arrayBuffer()
  return answer.status
}
