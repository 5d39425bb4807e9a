import type { RowOptions, RunOptions } from './row.ts'
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

/** The Python client's mirrors of practices that live, each of which is killed so many times. */
export async function mirrorInPython({ kills, seed }: Pick<RowOptions, 'kills' | 'seed'>): Promise<string> {
  const first = Number(seed) % 2 ** 31
  await runTests('packages/client/src/languages/python-mirror.test.ts', {
    BRIDGEWORK_TEST_PYTHON_KILLS: String(kills),
    BRIDGEWORK_TEST_SEED: String(first),
  })
  return `${kills} kills of each mirror, seed ${first}`
}
