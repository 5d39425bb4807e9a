import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Difference } from './difference.ts'
import { type ModelOptions, playModel, verifyChain } from './run.ts'
import { withService } from './service.ts'

// The same for an hour: npm run soak -- F40 --minutes 60 --seeds 3.

test('F40: whatever offices, vendors and people do at two processes that are killed, every answer, copy and disclosure is as a model says; a fault of either is found', async (t) => {
  const seed = String(Date.now())
  t.diagnostic(`seed ${seed}`)
  const given = { seed, roundSeconds: 4, strikeEveryMs: 2_000, organizations: 2, companies: 3 }
  const options: ModelOptions = { ...given, minutes: 0.12, say: (text) => t.diagnostic(text) }
  await withService(async (service) => {
    t.diagnostic(await playModel(service, options))
    for (const planted of ['upload', 'disclosure'] as const) {
      // Until it is found.
      const playing = playModel(service, { ...options, seed: `${seed} ${planted}`, planted, strikeEveryMs: 600_000 })
      await assert.rejects(playing, (error) => error instanceof Difference && !/no answer/.test(error.message))
    }
    t.diagnostic(await verifyChain(service))
  })
})
