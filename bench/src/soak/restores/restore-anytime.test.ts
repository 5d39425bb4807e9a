import { test } from 'node:test'
import { restoreAnytime } from './restore-anytime.ts'

test('F32: a service that is restored at any moment from any backup ends equal in every mirror and in a vendor’s own program', async (t) => {
  const seed = String(Date.now())
  t.diagnostic(`seed ${seed}`)
  t.diagnostic(await restoreAnytime({ runs: 2, seed }))
})
