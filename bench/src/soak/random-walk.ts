import type { RunOptions } from './row.ts'
import { runTests } from './run-tests.ts'

/** Walks of an office, its agents, the service and a vendor, each of which is edited, restored and killed at random. */
export async function randomWalk({ runs, seed }: RunOptions): Promise<string> {
  await runTests('apps/server/src/acceptance/random-walk.test.ts', {
    BRIDGEWORK_TEST_WALKS: String(runs),
    BRIDGEWORK_TEST_SEED: String(Number(seed) % 2 ** 31),
  })
  return `${runs} walks`
}

/** One walk of 500 steps, compared after each twenty. */
export async function longWalk({ seed }: Pick<RunOptions, 'seed'>): Promise<string> {
  await runTests('apps/server/src/acceptance/random-walk.test.ts', {
    BRIDGEWORK_TEST_WALKS: '1',
    BRIDGEWORK_TEST_STEPS: '500',
    BRIDGEWORK_TEST_SEED: String(Number(seed) % 2 ** 31),
  })
  return '500 steps'
}
