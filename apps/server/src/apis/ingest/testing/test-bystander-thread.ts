import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

// The thread of a bystander: see test-bystander.ts. Any answer but 200 ends it with an error, and so the test.
const { url, page, token } = workerData as { url: string; page: string; token: string }
const agent = new Agent({ keepAlive: true })
const times: { health: number[]; page: number[] } = { health: [], page: [] }
parentPort?.on('message', () => {
  const { health, page } = times
  parentPort?.postMessage({ health: p99(health), page: p99(page), answers: health.length })
  times.health = []
  times.page = []
})
void repeat(`${url}/healthz`, (ms) => times.health.push(ms))
void repeat(`${url}${page}`, (ms) => times.page.push(ms))

async function repeat(address: string, take: (ms: number) => void): Promise<void> {
  for (;;) {
    const begun = performance.now()
    await answered(address)
    take(performance.now() - begun)
    await sleep(5)
  }
}

function answered(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(address, { agent, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      const isRefused = answer.statusCode !== 200
      let text = ''
      answer.on('data', (piece) => {
        if (isRefused) text += piece
      })
      answer.on('error', reject).on('end', () => {
        if (isRefused) reject(new Error(`${address}: ${answer.statusCode} ${text}`))
        else resolve()
      })
    }).on('error', reject)
  })
}

function p99(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0
}
