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
