import type { IngestBodies, ReportedProblem } from '@bridgework/contract/ingest'
import type { DatasetFailure } from '../agent-event.ts'
import type { Connector, DatasetName } from '../connector.ts'
import type { Identity, IngestClient, IngestProblem } from '../ingest-client.ts'
import type { SelfUpdate } from '../launcher/self-update.ts'
import type { AgentState } from '../state/state.ts'
import type { Notes } from './notes.ts'
import { type RetryBudget, type RetryDeps, withRetries } from './retry.ts'

export type UploadLimits = { readonly linesMax: number; readonly bytesMax: number }

/** Half of what the server takes, so that a batch is quick to store and quick to send again. */
export const uploadLimits: UploadLimits = { linesMax: 5_000, bytesMax: 8 * 1024 * 1024 }

export type AgentDeps = RetryDeps & {
  readonly connector: Connector
  readonly client: IngestClient
  readonly state: AgentState
  readonly limits: UploadLimits
  /** False: the office sends no note, whatever is granted. */
  readonly sendNotes?: boolean
  /** How much room the disk of the state has; null: it cannot be seen. */
  readonly freeBytes?: () => number | null
  /** Takes releases that the service offers; absent: this agent takes none by itself. */
  readonly selfUpdate?: SelfUpdate
}

/** What the service said of itself and of this agent, and the agent's clock then. */
export type Contact = Identity & { readonly atMs: number }

/** A finished read that the service has not confirmed yet. */
export type UnconfirmedRead = {
  readonly locationId: string
  readonly dataset: DatasetName
  readonly readAt: Date
  readonly complete: boolean
}

/** What one cycle's steps share. */
export type CycleContext = AgentDeps & {
  readonly budget: RetryBudget
  notes: Notes
  /** The number of the contract that the service knows. */
  contract: number
  readonly totals: {
    uploaded: number
    refused: number
    refusedNow: number
    held: number
    hasPaused: boolean
  }
  /** Locations that the server will not take this dataset for; the others go on. */
  readonly skipped: Set<string>
  readonly startedAtMs: number
  /** What the service said last; `isAsked`: in this cycle, so that something may be sent. */
  contact: Contact | null
  isAsked: boolean
  /** By `skipKey`. */
  readonly reads: Map<string, UnconfirmedRead>
  /** True: the service did not take a read. */
  hasUnconfirmed: boolean
  reading: IngestBodies['heartbeat']['reading']
  /** Why something is not read or not sent. */
  readonly problems: ReportedProblem[]
  /** Datasets that the cycle did not sync; the others go on. */
  readonly failures: DatasetFailure[]
  /** The source has a location no more that it had: its records may be at another one. */
  hasLostLocation: boolean
  /** What the server refused first of one dataset; the cycle goes on with the others, then fails with it. */
  failure: IngestProblem | null
}

/** A location as both sides name it. */
export type Target = { readonly sourceId: string; readonly locationId: string }

export function retrying<T>(context: CycleContext, send: () => Promise<T>): Promise<T> {
  return withRetries(context, context.budget, send)
}

export function skipKey(locationId: string, dataset: DatasetName): string {
  return `${locationId}/${dataset}`
}
