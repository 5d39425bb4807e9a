/** The agent's pipeline in the caller's own process, for tests of the whole way of a record. */
export type { AgentEvent } from './agent-event.ts'
export { sleep } from './backoff.ts'
export { confirmRestore } from './confirm-restore.ts'
export { enrolAgent, type IngestClient, IngestProblem, ingestClient } from './ingest-client.ts'
export { openDentalConnector } from './open-dental/connector.ts'
export { type AgentDeps, uploadLimits } from './pipeline/context.ts'
export { type CycleOutcome, runCycle } from './pipeline/cycle.ts'
export { type AgentState, openState } from './state/state.ts'
