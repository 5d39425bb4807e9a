import type { World } from '../world/practice.ts'
import { requireOrderlyRefusal } from './uploader.ts'

export type Reader = { stop: () => Promise<{ whole: number; refused: number; broken: number }> }

/** A vendor that reads pages all the time: each answer is whole, or an orderly refusal, or a broken connection. Anything else throws at `stop`. */
export function startReader(world: World): Reader {
  const [locationId = ''] = world.locationIds
  const counts = { whole: 0, refused: 0, broken: 0 }
  let isStopped = false
  let fault: unknown
  const run = async () => {
    let after = '0'
    while (!isStopped) {
      const answer = await ask(world, locationId, after).catch(() => null)
      if (answer === null) counts.broken += 1
      else if (answer.status !== 200) {
        requireOrderlyRefusal(answer)
        counts.refused += 1
      } else {
        // A 200 that ends early must be a broken connection, never text that only looks whole.
        const page = JSON.parse(answer.text) as { data: unknown[]; meta: { next_after: string | null } }
        counts.whole += 1
        after = page.meta.next_after ?? '0'
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const running = run().catch((error: unknown) => {
    fault = error
  })
  return {
    async stop() {
      isStopped = true
      await running
      if (fault !== undefined) throw fault
      return counts
    },
  }
}

async function ask(world: World, locationId: string, after: string) {
  const url = `${world.server.vendorUrl}/locations/${locationId}/insurance_plans?items=1000&after=${after}`
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${world.vendor.token}` },
    signal: AbortSignal.timeout(30_000),
  })
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text: await answer.text() }
}
