/** The agent's pipeline in the caller's own process, for tests of the whole way of a record. */
export type { AgentEvent } from './agent-event.ts'
export { sleep } from './backoff.ts'
export { ingestClient } from './ingest-client.ts'
export { openDentalConnector } from './open-dental/connector.ts'
export { type AgentDeps, uploadLimits } from './pipeline/context.ts'
export { runCycle } from './pipeline/cycle.ts'
export { openState } from './state.ts'
