import type { DatasetName, FullReadReason, MendedValues, SourceProblemKind } from './connector.ts'
import type { IngestProblemKind } from './ingest-client.ts'

/** Why a cycle did not sync a dataset, and what a person can do. `table` and `column`: what of the source it is about, or null. */
export type DatasetFailure = {
  readonly dataset: DatasetName
  readonly because: SourceProblemKind | IngestProblemKind
  readonly table: string | null
  readonly column: string | null
  readonly what: string
  readonly todo: string
}

/**
 * Everything that the agent may print while it runs: a closed list, so that a reviewer sees in one file that no patient
 * can reach a log. `errors` is the server's text, which names a line, a field and a rule, never a value. A record's key
 * in the practice management system appears in `record.refused` alone.
 */
export type AgentEvent =
  | { event: 'agent.started'; server: string; connector: string; intervalSeconds: number | null }
  | { event: 'agent.stopped' }
  /** The agent goes on without its status page; `because` is the system's code. */
  | { event: 'status.unavailable'; port: number; because: string }
  /** A release that the service offers. `what` is the reason: a sentence, or the system's code. */
  | { event: 'update.downloading'; version: string; bytes: number }
  | { event: 'update.installed'; version: string }
  | { event: 'update.postponed'; version: string; what: string }
  | { event: 'update.refused'; version: string; what: string }
  | { event: 'update.rolled_back'; version: string }
  | { event: 'cycle.began' }
  | { event: 'cycle.finished'; durationMs: number; uploaded: number; refused: number }
  | { event: 'cycle.put_off'; because: SourceProblemKind; what: string; todo: string }
  | {
      event: 'cycle.failed'
      because: SourceProblemKind | IngestProblemKind | 'state_unusable'
      what: string
      todo: string
    }
  | { event: 'source.advice'; what: string }
  /** Once in a cycle: reading pauses while the source is busy with other work. */
  | { event: 'source.busy' }
  | { event: 'locations.sent'; locations: number }
  | { event: 'upload.resumed'; number: number }
  | { event: 'upload.retried'; because: IngestProblemKind; attempt: number; waitMs: number }
  | { event: 'state.reset' }
  /** The damaged file is there now; everything is compared and sent where it differs. */
  | { event: 'state.set_aside'; path: string }
  /** This state and what the service has are not of one history: everything is forgotten, compared and sent where it differs. */
  | { event: 'state.behind'; because: 'number_reused' | 'number_too_high' | 'state_restored' | 'service_restored' }
  | { event: 'dataset.put_off'; dataset: DatasetName; because: SourceProblemKind; what: string; todo: string }
  | ({ event: 'dataset.failed' } & DatasetFailure)
  | { event: 'dataset.advice'; dataset: DatasetName; what: string }
  | ({ event: 'values.mended'; dataset: DatasetName } & MendedValues)
  | { event: 'dataset.reading'; dataset: DatasetName; fully: FullReadReason | null; rows: number | null }
  /** Rows of the source that were read, of so many; null: not known. `uploaded`: records. */
  | {
      event: 'dataset.progress'
      dataset: DatasetName
      rows: number
      rowsTotal: number | null
      uploaded: number
      startedAtMs: number
      pausedMs: number
    }
  | { event: 'dataset.finished'; dataset: DatasetName; rows: number; uploaded: number; durationMs: number }
  /** Nothing of this location is read or sent while another agent writes there. */
  | { event: 'location.written_by_other'; what: string; todo: string }
  | { event: 'location.skipped'; locationId: string; dataset: DatasetName; because: IngestProblemKind; errors: string }
  | { event: 'records.hidden'; locationId: string; dataset: DatasetName; hidden: number }
  /** The service has not what was sent; it is read and sent again. */
  | { event: 'records.mistrusted'; locationId: string; dataset: DatasetName; records: number }
  | { event: 'removal.held'; locationId: string; dataset: DatasetName; missing: number; errors: string }
  | { event: 'record.refused'; locationId: string; dataset: DatasetName; sourceId: string; errors: string }

export type Report = (event: AgentEvent) => void
