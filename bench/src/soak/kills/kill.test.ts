import { type TestContext, test } from 'node:test'
import { auditFindsLoss } from '../audit-finds-loss.ts'
import { killBackend, killPostgres } from './kill-postgres.ts'
import { killServer } from './kill-server.ts'

// The same trials with thousands of kills: npm run soak.

test('F01: a server that is killed during an ingest loses and doubles nothing, and is soon back', async (t) => {
  // Within 2 s on a machine of its own, which the soak asks for; here other tests run at the same time.
  t.diagnostic(await killServer({ plans: 3_000, kills: 3, seed: seedOf(t) }, { readyWithinMs: 10_000 }))
})

test('F02, G14: a Postgres that is killed during an ingest loses and doubles nothing; callers are asked to come back, for less than 5 s', async (t) => {
  t.diagnostic(await killPostgres({ plans: 3_000, kills: 2, seed: seedOf(t) }))
})

test('F03: a Postgres backend that is killed during an ingest loses and doubles nothing; callers are asked to come back, for less than 5 s', async (t) => {
  t.diagnostic(await killBackend({ plans: 3_000, kills: 2, seed: seedOf(t) }))
})

test('F05: these trials can see a loss: with synchronous_commit off there is one', async (t) => {
  t.diagnostic(await auditFindsLoss({ plans: 0, kills: 0, seed: seedOf(t) }))
})

function seedOf(t: TestContext): string {
  const seed = String(Date.now())
  t.diagnostic(`seed ${seed}`)
  return seed
}
