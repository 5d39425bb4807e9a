import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import fc from 'fast-check'
import { someWalks } from './testing/walk/test-walk.ts'
import { type Step, steps } from './testing/walk/test-walk-steps.ts'

/** More of them in `npm run soak -- G20`, where a seed repeats them. */
const { BRIDGEWORK_TEST_WALKS: walks = '8', BRIDGEWORK_TEST_SEED: seed } = process.env
const mariaDb = await startTestMariaDb({ after })

/** Walks that went wrong once. */
const mended: [Step[]][] = []

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
