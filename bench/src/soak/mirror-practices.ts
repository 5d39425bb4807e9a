import type { RunOptions } from './row.ts'
import { runTests } from './run-tests.ts'

/** The client's mirrors of practices that live, again and again: each run has the next seed. */
export async function mirrorPractices({ runs, seed }: RunOptions): Promise<string> {
  const first = Number(seed) % 2 ** 31
  await runTests('packages/client/src/sync/mirror-living.test.ts', {
    BRIDGEWORK_TEST_MIRROR_RUNS: String(runs),
    BRIDGEWORK_TEST_SEED: String(first),
  })
  return `${runs} runs, seeds ${first} to ${first + runs - 1}`
}
