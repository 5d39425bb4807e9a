import { createPool } from '../../../platform/database/pool.ts'
import type { CompanyId, LocationId } from '../../../platform/identity/identity.ts'
import { createSyncSlots } from '../sync-slots.ts'

// A process that takes slots and says so, for the test that kills it: node test-slot-holder.ts <database> <process> <company> <lease ms>
const [url = '', processId = '', companyId = '', leaseMs = ''] = process.argv.slice(2)
const slots = createSyncSlots({
  pool: createPool(url, { max: 2, log: () => {}, applicationName: 'slot holder' }),
  processId,
  limits: { initial: 5, incremental: 25 },
  leaseMs: Number(leaseMs),
  renewMs: Number(leaseMs) / 4,
  log: () => {},
})
slots.start()
// The ids are made by the test that starts this file.
for (const location of [11, 12, 13, 14, 15])
  await slots.acquire(companyId as CompanyId, 'initial', String(location) as LocationId)
process.stdout.write('holding\n')
setInterval(() => {}, 60_000)
