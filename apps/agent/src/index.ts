/** The agent's pipeline as a library: what a simulator needs to feed Bridgework the way an office does. */
export type { AgentEvent, Report } from './agent-event.ts'
export { type Sleep, sleep } from './backoff.ts'
export {
  type ByLocation,
  type Changes,
  type Connector,
  type DatasetName,
  type Finding,
  type FullReadReason,
  type JsonValue,
  type KnownKeys,
  type Scan,
  type SourceCheck,
  type SourceCycle,
  type SourceLocation,
  SourceProblem,
  type SourceRecord,
} from './connector.ts'
export {
  type Enrolment,
  enrolAgent,
  type IngestClient,
  type IngestOptions,
  IngestProblem,
  ingestClient,
} from './ingest-client.ts'
export type { DatabaseSettings } from './open-dental/database-settings.ts'
export { openDentalConnector } from './open-dental/connector.ts'
export { type AgentDeps, type UploadLimits, uploadLimits } from './pipeline/context.ts'
export { type CycleOutcome, runCycle } from './pipeline/cycle.ts'
export { runAgent } from './run-agent.ts'
export { type AgentState, openState, type StateIdentity } from './state.ts'
