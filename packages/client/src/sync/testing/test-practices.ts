import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { grantAccess } from '../../../../../apps/server/src/modules/consent/grant.ts'
import { listLocations } from '../../../../../apps/server/src/modules/directory/location.ts'
import { startFeeder } from '../../../../../apps/server/src/sandbox/feeder-process.ts'
import { someWorld } from '../../../../../apps/server/src/testing/test-world.ts'

/** The sandbox's practices, three locations with all datasets, other ones for each seed, and a vendor to whom all is granted before anything has arrived. */
export async function livePractices(t: TestContext, seed: number) {
  const world = await someWorld(t)
  const organizationId = await world.addOrganization()
  const agent = await world.addAgent(organizationId)
  const vendor = await world.addVendor()
  await grantAccess(world.ownerPool, {
    companyId: vendor.companyId,
    organizationId,
    locationIds: 'all',
    datasets: datasetNames,
    by: 'test',
  })
  const stateDir = mkdtempSync(join(tmpdir(), 'bridgework-practices-'))
  t.after(() => rmSync(stateDir, { recursive: true, force: true }))
  let events = 0
  let hasEnded = false
  return {
    world,
    vendor,
    practices: {
      /** Starts the office's process, and ends it when so much has happened there after its data had arrived. */
      async live(eventsAtLeast: number) {
        const enough = Promise.withResolvers<void>()
        const feeder = startFeeder({
          demo: { ...agent, organizationId },
          serverUrl: world.url,
          stateDir,
          settings: { BRIDGEWORK_FEEDER_SEED: String(seed), BRIDGEWORK_FEEDER_INTERVAL_MS: '50' },
          log: (event) => {
            if (event.event !== 'sandbox.feeder') return enough.reject(new Error(JSON.stringify(event)))
            if (event.text.startsWith('{"event":"practice.changed"')) events += 1
            if (events >= eventsAtLeast) enough.resolve()
          },
        })
        t.after(feeder.stop)
        try {
          await enough.promise
        } finally {
          await feeder.stop()
          hasEnded = true
        }
      },
      haveEnded: () => hasEnded,
      events: () => events,
      async locationIds() {
        const ids = (await listLocations(world.ownerPool, organizationId)).map(({ id }) => id)
        assert.equal(ids.length, 3)
        return ids
      },
    },
  }
}
