import { runTests } from './run-tests.ts'

/** The command pulls a million treatments: how fast beside what the service can send, and in how much memory. */
export async function pullMillion(): Promise<string> {
  const records = '1000000'
  await runTests('packages/client/src/command/pull-throughput.test.ts', { BRIDGEWORK_TEST_PULL_RECORDS: records })
  return `${records} records`
}
