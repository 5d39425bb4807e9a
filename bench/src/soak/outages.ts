import { findPgBouncer, pgBouncerMissing } from '@bridgework/server/src/acceptance/testing/test-pgbouncer.ts'
import type { RunOptions } from './row.ts'
import { runTests } from './run-tests.ts'

/** 100 mixed requests for each run through PgBouncer, whose database is killed and comes back in the middle. */
export async function survivePooler(options: RunOptions): Promise<string> {
  if (findPgBouncer(process.env) === null) throw new Error(pgBouncerMissing)
  return await trial('pooler', options, { BRIDGEWORK_TEST_INSTRUMENT: 'pgbouncer' })
}

/** The same on a primary that is killed, and whose standby takes over. */
export async function survivePrimary(options: RunOptions): Promise<string> {
  return await trial('standby', options, {})
}

async function trial(name: string, { runs, seed }: RunOptions, settings: Record<string, string>): Promise<string> {
  const requests = runs * 100
  await runTests(`apps/server/src/acceptance/${name}.test.ts`, {
    ...settings,
    BRIDGEWORK_TEST_REQUESTS: String(requests),
    BRIDGEWORK_TEST_SEED: seed,
  })
  return `${requests} requests; what was measured is above`
}
