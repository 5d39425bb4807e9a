export {
  type IngestAnswers,
  type IngestRefusalKind,
  ingestAnswers,
  ingestRefusal,
  ingestRefusals,
} from './answer.ts'
export { type IngestBodies, ingestBodies } from './body.ts'
export { canonicalSource } from './canonical.ts'
export {
  type ConfirmedRead,
  filePlacesSince,
  identifierPattern,
  mappedColumnPattern,
  mappedFilePattern,
  type ReasonCode,
  type ReportedProblem,
  reasonCodes,
} from './heartbeat.ts'
export type { SourceLocation } from './location.ts'
export { type ProcessStart, packProcessStart, processesBeforeMax, readProcessStart } from './process-start.ts'
export { type JsonValue, type RecordOf, recordLines, type SourceRecord } from './record.ts'
export {
  acknowledgedHeader,
  contractHeader,
  type IngestParameters,
  type IngestRouteName,
  ingestApiPath,
  ingestRoutes,
  ingestUrl,
  ingestVersion,
  ingestVersionHeader,
  processHeader,
  processStartHeader,
} from './route.ts'
export { listHashLength, sliceLines } from './slice.ts'
export { isUploadNumber, uploadNumberJumpMax } from './upload-number.ts'
