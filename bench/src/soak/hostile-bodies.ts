import { runTests } from './run-tests.ts'

const secondsEach = 5

/**
 * The worst bodies of every ingest route, each by four agents at once for some seconds, the worst requests of every other route, stalled readers
 * and slow callers; how long others wait is held on the wall clock too.
 */
export async function hostileBodies(): Promise<string> {
  await runTests('apps/server/src/apis/ingest/lines/hostile-bodies.test.ts', {
    BRIDGEWORK_TEST_HOSTILE: `${secondsEach},4`,
  })
  await runTests('apps/server/src/apis/worst-requests.test.ts', { BRIDGEWORK_TEST_WORST: '1,4' })
  return `four agents, ${secondsEach} s for each body, 1 s for each other route`
}
