import type { RunOptions } from './row.ts'
import { runTests } from './run-tests.ts'

/** The worst bodies of every ingest route, by four agents at once, again and again. */
export async function hostileBodies({ runs }: RunOptions): Promise<string> {
  const rounds = Math.max(2, runs)
  await runTests('apps/server/src/apis/ingest/hostile-bodies.test.ts', {
    BRIDGEWORK_TEST_HOSTILE_ROUNDS: `${rounds},4`,
  })
  return `${rounds} rounds of four agents`
}
