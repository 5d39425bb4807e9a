import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DemoPractices } from '../../modules/faults/drive.ts'
import type { TestWorld } from '../../testing/test-world.ts'
import { createDemoPractices, whenStarted } from '../demo-practices.ts'
import { startFeeder } from '../feeder-process.ts'
import { keepVendorPractices, startVendorPractices } from '../vendor-practices.ts'

/** Demo practices for a world that is made with them. `start` gives each vendor that the world has by then one of its own. */
export function someDemoPractices() {
  let started: DemoPractices | null = null
  return {
    practices: whenStarted(() => started),
    start: async (t: { after: (work: () => unknown) => void }, world: TestWorld) => {
      const stateDir = mkdtempSync(join(tmpdir(), 'bridgework-drive-'))
      t.after(() => rmSync(stateDir, { recursive: true, force: true }))
      // Calm practices: what a test sees is what it ordered.
      const settings = { BRIDGEWORK_FEEDER_INTERVAL_MS: '600000' }
      const feeder = startFeeder({ demo: null, serverUrl: world.url, stateDir, settings, log: () => {} })
      t.after(feeder.stop)
      await keepVendorPractices({ ...world, feeder, stateDir, signal: new AbortController().signal })
      const vendors = startVendorPractices({ ...world, feeder, stateDir })
      t.after(vendors.stop)
      started = createDemoPractices({ pool: world.pool, demo: null, feeder, vendors })
    },
  }
}
