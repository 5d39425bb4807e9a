import { Agent, request } from 'node:http'
import type { LoadResult } from '../client/load.ts'
import { clockOf } from '../fixture/reading.ts'
import type { Contender } from '../measure.ts'
import type { World } from '../world/practice.ts'
import { rowsOf } from './contenders.ts'
import { earlierOurs, ours } from './row.ts'
import type { Work } from './work.ts'

/** A key pair for a token: a secret is checked and a token signed. Each request comes from another address, because one may ask ten times a minute. */
export const token: Work = async (bench) => {
  const contenders = [contender(ours, bench.world)]
  if (bench.earlier) contenders.push(contender(earlierOurs, bench.earlier.world))
  return await rowsOf(bench, { work: 'token', name: 'token', connections: 8 }, contenders)
}

function contender(who: string, world: World): Contender {
  return { who, cpu: clockOf(world), run: (seconds) => askForTokens(world, seconds) }
}

let addresses = 0

async function askForTokens(world: World, seconds: number): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const { clientId, clientSecret } = world.vendor
  const body = JSON.stringify({ client_id: clientId, client_secret: clientSecret })
  const begunAt = performance.now()
  let [requests, bytes] = [0, 0]
  const loop = async () => {
    while (performance.now() - begunAt < seconds * 1000) {
      addresses += 1
      const address = `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
      bytes += await post(`${world.server.vendorUrl}/auth/token`, agent, body, address)
      requests += 1
    }
  }
  await Promise.all(Array.from({ length: 8 }, loop))
  agent.destroy()
  return { requests, bytes, requestsPerSecond: requests / ((performance.now() - begunAt) / 1000) }
}

function post(url: string, agent: Agent, body: string, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address }
    const sent = request(url, { agent, method: 'POST', headers }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      response.on('error', reject)
      response.on('end', () =>
        response.statusCode === 200 ? resolve(bytes) : reject(new Error(`${url} answered ${response.statusCode}`)),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
