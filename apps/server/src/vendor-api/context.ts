import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { TokenIssuer } from '../access/access-token.ts'
import type { SecretKey } from '../access/secret.ts'
import type { OrganizationId } from '../directory/identity.ts'
import type { DisclosureWriter } from '../disclosure/writer.ts'
import type { Log } from '../http/log-event.ts'
import type { BodyOptions } from '../http/send-body.ts'
import type { PageReader } from '../records/page.ts'
import type { SyncSlots } from '../throttle/sync-slots.ts'
import type { TokenLimit } from '../throttle/token-limit.ts'

/** What the vendor API works with. */
export type VendorApiContext = {
  pool: Pool
  tokens: TokenIssuer
  secretKey: SecretKey
  tokenLimit: TokenLimit
  slots: SyncSlots
  disclosures: DisclosureWriter
  pages: PageReader
  /** When an organization's agents were last heard. */
  lastContactOf: (organizationId: OrganizationId) => Promise<Date | null>
  /** Preview datasets that are on; the others of that kind answer 404. */
  previewDatasets: ReadonlySet<DatasetName>
  now: () => Date
  log: Log
  /** When a reader is cut who takes its page too slowly. */
  reader: Pick<BodyOptions, 'stallMs' | 'deadlineMs'>
}
