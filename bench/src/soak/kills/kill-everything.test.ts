import { test } from 'node:test'
import { killEverything } from './kill-everything.ts'

test('K07: a practice that is read while agent, server and Postgres are killed in turn reaches the vendor whole, each plan once', async (t) => {
  const seed = String(Date.now())
  t.diagnostic(`seed ${seed}`)
  t.diagnostic(await killEverything({ plans: 2_000, kills: 3, seed }))
})
