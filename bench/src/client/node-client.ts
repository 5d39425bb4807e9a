import { Agent, get } from 'node:http'
import type { LoadRequest, LoadResult } from './load.ts'

// A closed-loop client in a process of its own, where wrk is not installed: node-client.ts <request as JSON>. Prints a LoadResult as JSON.
const { url, headers, connections, seconds }: LoadRequest = JSON.parse(process.argv[2] ?? '{}')
const agent = new Agent({ keepAlive: true, maxSockets: connections })
const begunAt = performance.now()
const counts = await Promise.all(Array.from({ length: connections }, loop))
const elapsed = (performance.now() - begunAt) / 1000
const requests = sum(counts.map((count) => count.requests))
const result: LoadResult = {
  requests,
  requestsPerSecond: requests / elapsed,
  bytes: sum(counts.map((count) => count.bytes)),
}
console.log(JSON.stringify(result))
process.exit(0)

async function loop(): Promise<{ requests: number; bytes: number }> {
  const count = { requests: 0, bytes: 0 }
  while (performance.now() - begunAt < seconds * 1000) {
    count.bytes += await ask()
    count.requests += 1
  }
  return count
}

function ask(): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(bytes)
        else reject(new Error(`${url} answered ${response.statusCode}`))
      })
    })
    request.on('error', reject)
  })
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
