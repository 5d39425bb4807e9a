export { ApiError, type ClientErrorCode } from './api-error.ts'
export { Bridgework, type BridgeworkOptions } from './bridgework.ts'
export type { RetryOptions } from './connection.ts'
export {
  type DatasetName,
  type DatasetRecord,
  type DatasetResource,
  type DetailRecord,
  datasetNames,
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
export { fileTokenStore } from './file-token-store.ts'
export type * from './generated.ts'
export type { Freshness, List, Page } from './page.ts'
export { memoryTokenStore, type StoredToken, type TokenStore } from './token-store.ts'
