import { test } from 'node:test'
import { releaseSlots } from './release-slots.ts'

// A file of its own: it mostly waits for leases to end, and other tests run meanwhile.
test('C08: a killed server’s sync slots can be had again within 30 s, by the locations that held them at once', async (t) => {
  t.diagnostic(await releaseSlots())
})
