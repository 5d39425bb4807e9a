import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'

/** 99 of 100 answers to a bystander came within this time, in ms, since it was last asked. */
export type Waited = { health: number; page: number; answers: number }

/** Asks a server for /healthz and for a vendor's page again and again, from a thread of its own: what else the test does costs it no time. */
export async function startBystander(t: TestContext, urls: { url: string; page: string; token: string }) {
  const worker = new Worker(join(import.meta.dirname, 'test-bystander-thread.ts'), { workerData: urls })
  t.after(() => worker.terminate())
  return {
    waited: async (): Promise<Waited> => {
      worker.postMessage('waited')
      const [waited] = await once(worker, 'message')
      return waited
    },
  }
}
