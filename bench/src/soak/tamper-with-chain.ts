import type { RunOptions } from './row.ts'
import { runTests } from './run-tests.ts'

/** Changes what is sealed, and the seals, ten times for each run; `disclosure verify` must find every change. */
export async function tamperWithChain({ runs, seed }: RunOptions): Promise<string> {
  const changes = runs * 10
  await runTests('apps/server/src/modules/chain/verify.property.test.ts', {
    BRIDGEWORK_TEST_RUNS: String(changes),
    BRIDGEWORK_TEST_SEED: String(Number(seed) % 2 ** 31),
  })
  return `${changes} of ${changes} changes found`
}
