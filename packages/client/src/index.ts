export { ApiError, type ClientErrorCode } from './api-error.ts'
export { Bridgework, type BridgeworkOptions } from './bridgework.ts'
export type { ChangeRow, ChangesOptions, ChangesPage, ChangesResource } from './changes-resource.ts'
export type { RetryOptions } from './connection.ts'
export {
  type DatasetName,
  type DatasetRecord,
  type DatasetResource,
  type DetailRecord,
  datasetNames,
  type ExportOptions,
  type ListOptions,
} from './dataset-resource.ts'
export type {
  LocationRecord,
  LocationsResource,
  OrganizationRecord,
  OrganizationsResource,
  SyncStatus,
} from './directory-resource.ts'
export type { ClientEvent, SyncType } from './events.ts'
export type * from './generated.ts'
export type { Freshness, List, Page } from './pages/page.ts'
export type { StoreEvent, StoreOptions } from './stores/layout.ts'
export { ndjsonStore } from './stores/ndjson-store.ts'
export { postgresStore } from './stores/postgres/postgres-store.ts'
export { sqliteStore } from './stores/sqlite/sqlite-store.ts'
export { TargetError } from './stores/target-error.ts'
export {
  StoreConflictError,
  type SyncKey,
  type SyncPage,
  type SyncPosition,
  type SyncRecord,
  type SyncStore,
} from './sync/store.ts'
export type { SyncEvent, SyncOptions, SyncReport } from './sync/sync.ts'
export type { Verification, VerifyOptions } from './sync/verify.ts'
export { fileTokenStore } from './tokens/file-token-store.ts'
export { memoryTokenStore, type StoredToken, type TokenStore } from './tokens/token-store.ts'
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookMessage,
  WebhookVerificationError,
} from './webhook.ts'
