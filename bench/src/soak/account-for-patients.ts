import type { RunOptions } from './row.ts'
import { runTests } from './run-tests.ts'

/** A million disclosures for each run, of ten locations over six years; which vendors received a patient is asked of five of them. */
export async function accountForPatients({ runs }: RunOptions): Promise<string> {
  const locations = String(runs * 10)
  await runTests('apps/server/src/modules/disclosure/accounting-volume.test.ts', {
    BRIDGEWORK_TEST_LOCATIONS: locations,
  })
  return `${runs} million disclosures`
}
