import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { ChangeWatch } from '../../modules/changes/change-watch.ts'
import type { TokenIssuer } from '../../modules/credentials/access-token.ts'
import type { SecretKey } from '../../modules/credentials/secret.ts'
import type { SeenStamps } from '../../modules/datasets/seen-stamps.ts'
import type { SmallReader } from '../../modules/disclosure/small-read.ts'
import type { DisclosureWriter } from '../../modules/disclosure/writer.ts'
import type { VendorFaults } from '../../modules/faults/vendor-faults.ts'
import type { LocationLists } from '../../modules/overview/granted-location.ts'
import type { OrganizationLists } from '../../modules/overview/granted-organization.ts'
import type { PageReader } from '../../modules/records/read/page.ts'
import type { RequestTurns } from '../../modules/throttle/request-turns.ts'
import type { SyncSlots } from '../../modules/throttle/sync-slots.ts'
import type { TokenLimit } from '../../modules/throttle/token-limit.ts'
import type { BodyOptions } from '../../platform/http/send-body.ts'
import type { OrganizationId } from '../../platform/identity/identity.ts'
import type { Log } from '../../platform/log/log-event.ts'
import type { LoadWatch } from '../../platform/memory/load-watch.ts'

/** What the vendor API works with. */
export type VendorApiContext = {
  pool: Pool
  /** Connections for what decides about a request: it never waits for pages or uploads. */
  controlPool: Pool
  tokens: TokenIssuer
  secretKey: SecretKey
  tokenLimit: TokenLimit
  slots: SyncSlots
  requests: RequestTurns
  load: LoadWatch
  disclosures: DisclosureWriter
  smallReads: SmallReader
  pages: PageReader
  locationLists: LocationLists
  organizationLists: OrganizationLists
  changes: ChangeWatch
  seenStamps: SeenStamps
  /** When an organization's agents were last heard. */
  lastContactOf: (organizationId: OrganizationId) => Promise<Date | null>
  /** Preview datasets that are on; the others of that kind answer 404. */
  previewDatasets: ReadonlySet<DatasetName>
  /** What vendors of a sandbox order for their own requests; null: this is none. */
  faults: VendorFaults | null
  now: () => Date
  log: Log
  /** When a reader is cut who takes its page too slowly, and of how many records a part of an export is. */
  reader: Pick<BodyOptions, 'stallMs' | 'deadlineMs'> & { partRecords?: number }
}
