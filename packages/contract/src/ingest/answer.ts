import { type Static, type TSchema, Type } from 'typebox'
import { nullable } from '../attribute.ts'
import type { ProblemCode } from '../problems.ts'
import type { IngestRouteName } from './route.ts'

// Ids become parts of paths.
const id = Type.String({ pattern: '^[1-9]\\d{0,18}$' })
const count = Type.Integer({ minimum: 0 })

/** Who the agent is to the service, and what people decided there: what a cycle begins with. */
const identity = {
  agent_id: id,
  organization_id: id,
  server_time: Type.String({ format: 'date-time' }),
  /** The highest number that an upload of the agent ever had, over all locations and datasets; null before the first. */
  highest_number: nullable(Type.Integer({ minimum: 1 })),
  /** Names the copy that the agent wrote: another one after the service's database was restored, or another agent wrote in between. */
  epoch: Type.String({ minLength: 1 }),
  /** The IANA zones that people set for the organization and for single locations. */
  time_zone: nullable(Type.String()),
  location_time_zones: Type.Array(Type.Object({ source_id: Type.String(), time_zone: Type.String() })),
  /**
   * The datasets of locations whose notes some company may read, and since when: their notes are to be sent, and no other's. Another `since`
   * than before: all of them again.
   */
  notes: Type.Array(Type.Object({ source_id: Type.String(), dataset: Type.String(), since: Type.String() })),
  /**
   * The release that the agent is to take; null: none. `size` and `sha256` are of its signed file, which has parts of the same size, the last one
   * may be smaller.
   */
  release: nullable(Type.Object({ version: Type.String(), size: Type.Integer(), sha256: Type.String() })),
  /** Locations at which this agent is refused because another one writes there. */
  written_by_others: Type.Array(
    Type.Object({
      source_id: Type.String(),
      name: Type.String(),
      agent_name: Type.String(),
      last_contact_at: nullable(Type.String()),
    }),
  ),
  /** The ids of the organization's locations that are not closed. */
  locations: Type.Array(Type.Object({ source_id: Type.String(), location_id: id })),
}

/** What each route answers with 2xx. An agent ignores members that it does not know: later versions add some. */
export const ingestAnswers = {
  enrolAgent: Type.Object({ agent_id: id, agent_key: Type.String({ minLength: 1 }), organization_id: id }),
  identifyAgent: Type.Object(identity),
  /** `not_confirmed`: locations whose reads were not taken: they are of another epoch, or this agent does not write there. */
  heartbeat: Type.Object({ ...identity, not_confirmed: Type.Array(id) }),
  /** In base64. */
  getReleasePart: Type.Object({ bytes: Type.String() }),
  reportRelease: Type.Object({}),
  /** Every location of the organization, not only those that were sent. */
  sendLocations: Type.Object({
    locations: Type.Array(Type.Object({ source_id: Type.String(), location_id: id, name: Type.String() })),
  }),
  sendRecords: Type.Object({ inserted: count, changed: count, unchanged: count, hidden: count }),
  beginList: Type.Object({ list_id: id }),
  /** Source ids of the slice that are to be sent again: `unknown` are not visible here, `different` have other content. */
  sendListSlice: Type.Object({ unknown: Type.Array(Type.String()), different: Type.Array(Type.String()) }),
  /** `remaining`: records that the service hides in the background, where they are many. */
  finishList: Type.Object({ hidden: count, remaining: Type.Optional(count) }),
} as const satisfies Record<IngestRouteName, TSchema>

export type IngestAnswers = { [name in IngestRouteName]: Static<(typeof ingestAnswers)[name]> }

/** Every other answer. `code` is missing where something between agent and service answered. */
export const ingestRefusal = Type.Object({
  errors: Type.String(),
  code: Type.Optional(Type.String()),
  request_id: Type.Optional(Type.String()),
  /** Of `removal_held`: how many records would be hidden, and how many are visible. */
  missing: Type.Optional(count),
  visible: Type.Optional(count),
  /** Of `record_invalid`: the line, counted from 1, and the field where there is one. */
  line: Type.Optional(Type.Integer({ minimum: 1 })),
  field: Type.Optional(Type.String()),
})

/**
 * What a refusal means to an agent, by its code. `busy` and `failing` pass; `key_refused` is tried again each hour; `denied` and `unknown` are about one
 * location or dataset; the others are about this very request, which would be refused again.
 */
export const ingestRefusals = {
  agent_key_invalid: 'key_refused',
  enrolment_code_invalid: 'key_refused',
  agent_denied: 'denied',
  organization_unknown: 'unknown',
  location_unknown: 'unknown',
  dataset_unknown: 'unknown',
  release_unknown: 'unknown',
  list_unknown: 'list_unknown',
  route_unknown: 'unknown',
  location_written: 'written_by_other',
  agent_copied: 'copied',
  removal_held: 'removal_held',
  idempotency_key_reused: 'key_reused',
  record_invalid: 'record_invalid',
  body_too_large: 'too_large',
  token_requests_exceeded: 'busy',
  unavailable: 'busy',
  restore_unmarked: 'restore_unmarked',
  overloaded: 'busy',
  busy: 'busy',
  request_timeout: 'failing',
  internal: 'failing',
} as const satisfies Partial<Record<ProblemCode, string>>

export type IngestRefusalKind = (typeof ingestRefusals)[keyof typeof ingestRefusals]
