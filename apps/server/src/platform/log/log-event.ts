import type { BrokenRule, ProblemCode } from '@bridgework/contract'
import type { AgentId, CompanyId, KeyPairId, LocationId } from '../identity/identity.ts'

/**
 * Everything that the service may write to its log. Closed, so that a reviewer sees in one file that no patient, secret or query
 * string can reach it: a path is a route's pattern, an error is its class and code.
 */
export type LogEvent =
  | { event: 'server.starting' | 'server.stopped'; environment: string }
  | { event: 'server.warning'; text: string }
  | { event: 'tls.reloaded' }
  | { event: 'secret_key.reloaded'; keys: number; current: string }
  | { event: 'database.starting' | 'database.ready' | 'database.stopped'; kind: 'embedded' | 'server' }
  | { event: 'database.waiting'; migrations: number }
  | { event: 'database.died'; restartInMs: number }
  | { event: 'database.unavailable'; code: string }
  | { event: 'database.migrated'; number: number; name: string; durationMs: number }
  | {
      event: 'request.answered'
      requestId: string
      method: string
      route: string
      status: number
      durationMs: number
      companyId?: CompanyId | undefined
      keyPairId?: KeyPairId | undefined
      /** The caller named this company's key pair, and did not prove that it is its own. */
      isUnproved?: true | undefined
      /** What stood in the path where a location's id stands: of a known location unless the answer says otherwise. */
      locationId?: LocationId | undefined
      /** Records of a dataset in the answer. */
      records?: number | undefined
      agentId?: AgentId | undefined
      code?: ProblemCode | undefined
      because?: string | undefined
      broken?: BrokenRule | undefined
    }
  | { event: 'request.failed'; requestId: string; route: string; error: string; line: string }
  | { event: 'response.cut'; requestId: string; because: 'stalled' | 'too slow' }
  | {
      event: 'records.ingested'
      locationId: LocationId
      dataset: string
      changed: number
      hidden: number
      /** The same upload came before; it changed nothing this time. */
      isRepeated: boolean
      durationMs: number
    }
  | { event: 'notes.removed'; locationId: LocationId; dataset: string; records: number }
  | { event: 'records.rerendered'; locationId: LocationId; dataset: string; changed: number }
  | { event: 'segments.packed'; locationId: LocationId; dataset: string; records: number; durationMs: number }
  | { event: 'segments.broken'; locationId: LocationId; dataset: string }
  | { event: 'record.foreign_reference'; locationId: LocationId; dataset: string; recordId: string }
  | {
      event: 'removal.held' | 'removal.started'
      locationId: LocationId
      dataset: string
      missing: number
      visible: number
    }
  | { event: 'records.removed'; locationId: LocationId; dataset: string; hidden: number; remaining: number }
  | { event: 'token.refused'; because: 'unknown' | 'wrong secret' | 'revoked' | 'company' | 'agreement' }
  | { event: 'disclosure.failed'; waiting: number; code: string }
  | { event: 'task.failed'; task: string; error: string }
  | { event: 'sandbox.feeder'; text: string }

export type Log = (event: LogEvent) => void
