import { runTests } from './run-tests.ts'

const records = '1000000'

/** The command pulls a million treatments: how fast beside what the service can send, and in how much memory. */
export async function pullMillion(): Promise<string> {
  await runTests('packages/client/src/command/pull/pull-throughput.test.ts', { BRIDGEWORK_TEST_RECORDS: records })
  return `${records} records`
}

/** A copy of a million treatments is verified: what the service's digest costs beside sending them, and what is read. */
export async function verifyMillion(): Promise<string> {
  await runTests('packages/client/src/sync/verify-volume.test.ts', { BRIDGEWORK_TEST_RECORDS: records })
  return `${records} records`
}

/** A database of the oldest kept version with a million records is migrated: how long a reader and a writer wait meanwhile. */
export async function migrateMillion(): Promise<string> {
  await runTests('apps/server/src/acceptance/upgrade-locks.test.ts', { BRIDGEWORK_TEST_RECORDS: records })
  return `${records} records`
}
