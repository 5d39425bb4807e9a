import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import fc from 'fast-check'
import { someWalks } from './testing/walk/test-walk.ts'
import { type Step, steps, stepsOf } from './testing/walk/test-walk-steps.ts'

/** More of them in `npm run soak -- G20`, and one long one in `npm run soak -- G21`, where a seed repeats them. */
const { BRIDGEWORK_TEST_WALKS: walks = '8', BRIDGEWORK_TEST_STEPS: longWalk, BRIDGEWORK_TEST_SEED: seed } = process.env
const mariaDb = await startTestMariaDb({ after })

/** Walks that went wrong once. */
const mended: [Step[]][] = []

const settleEvery = 20

if (longWalk !== undefined) {
  test('G21: one office goes through hundreds of steps, and is equal whenever people have done what agent and portal ask for', async (t) => {
    const walk = await someWalks(t, mariaDb)
    await walk(stepsOf(Number(longWalk), Number(seed ?? Date.now() % 2 ** 31)), settleEvery)
    t.diagnostic(`${longWalk} steps, compared after each ${settleEvery}`)
  })
}

test('G20: whatever is edited, restored, killed or enrolled, a vendor’s copy equals the office after a quiet cycle and a full pass', async (t) => {
  const walk = await someWalks(t, mariaDb)
  let walked = 0
  const began = performance.now()
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      await walk(script)
      walked += 1
    }),
    {
      numRuns: Number(walks),
      examples: mended,
      endOnFailure: true,
      ...(seed === undefined ? {} : { seed: Number(seed) }),
    },
  )
  t.diagnostic(`${walked} walks in ${Math.round((performance.now() - began) / 1000)} s`)
})
