import type { RunOptions } from '../row.ts'
import { runTests } from '../run-tests.ts'

/** 100 mixed requests to three processes for each run, one of which is killed after each 250; then every disclosure and act is accounted for. */
export async function discloseUnderKills({ runs, seed }: RunOptions): Promise<string> {
  const requests = runs * 100
  const kills = Math.max(2, Math.round(requests / 250))
  await runTests('apps/server/src/acceptance/chain-under-kills.test.ts', {
    BRIDGEWORK_TEST_CHAIN: `${requests},${kills}`,
    BRIDGEWORK_TEST_SEED: seed,
  })
  return `${requests} requests, ${kills} kills`
}
