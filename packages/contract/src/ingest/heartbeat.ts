import { type Static, Type } from 'typebox'
import { anyInstant, nullable } from '../attribute.ts'
import { datasetNames } from '../datasets.ts'

/**
 * Why an office's data does not arrive as it should: all that an agent may say of it. A closed list, so that nothing of a patient can be in it. The
 * service makes the sentence that people read.
 */
export const reasonCodes = [
  // Of the source, as a whole or of one dataset.
  'unreachable',
  'access_denied',
  'not_encrypted',
  'database_missing',
  'not_open_dental',
  'rights_missing',
  'table_damaged',
  'table_missing',
  'column_missing',
  'update_in_progress',
  'version_changed',
  'too_slow',
  'time_zone_unknown',
  'went_back',
  'mapping_invalid',
  'file_missing',
  'file_invalid',
  'file_busy',
  'unexpected',
  // Of what could be read, but not whole.
  'lines_skipped',
  'export_old',
  'notes_not_sent',
  // Of the way to the service.
  'service_refused',
  'service_busy',
  'records_refused',
  'written_by_other',
  // Of the agent's computer.
  'state_set_aside',
  'state_unusable',
] as const

export type ReasonCode = (typeof reasonCodes)[number]

const id = Type.String({ pattern: '^[1-9]\\d{0,18}$' })
const dataset = Type.Enum([...datasetNames])
/** The name of a table or a column. What has another form is left out: free text of an office goes nowhere. */
export const identifierPattern = '^[A-Za-z_][A-Za-z0-9_]{0,63}$'
const identifier = Type.String({ pattern: identifierPattern })
/**
 * The name of an export file as the mapping has it, which may be a pattern: never that of the file itself, which the office's program chose. What has
 * another form is left out.
 */
export const mappedFilePattern = '^[A-Za-z0-9][A-Za-z0-9 _.*{}/-]{0,99}$'
/** A column of an export file as the mapping names it. What has another form is left out. */
export const mappedColumnPattern = '^[A-Za-z0-9][A-Za-z0-9 _.#/()-]{0,63}$'
/** Services of an older contract refuse a heartbeat with `file`. */
export const filePlacesSince = 2
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const closed = { additionalProperties: false }

/** One reason: of a dataset, of a location, of both, or (neither) of everything that the agent reads. */
export const reportedProblem = Type.Object(
  {
    code: Type.Enum([...reasonCodes]),
    dataset: Type.Optional(dataset),
    location_id: Type.Optional(id),
    table: Type.Optional(identifier),
    column: Type.Optional(identifier),
    /** Of an export file, the first place that is wrong. */
    file: Type.Optional(
      Type.Object(
        {
          name: Type.String({ pattern: mappedFilePattern }),
          line: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
          column: Type.Optional(Type.String({ pattern: mappedColumnPattern })),
        },
        closed,
      ),
    ),
  },
  closed,
)

export type ReportedProblem = Static<typeof reportedProblem>

/** Finished reads of a dataset that began at the same moment: all that was read before is stored by the service. */
const confirmedRead = Type.Object(
  {
    dataset,
    /** When the reading began, or how old the export is: by the agent's clock. */
    read_at: anyInstant('When the reading began'),
    /** True: every record of these locations was read. */
    complete: Type.Boolean(),
    location_ids: Type.Array(id, { minItems: 1, maxItems: 1000 }),
  },
  closed,
)

export type ConfirmedRead = Static<typeof confirmedRead>

/** What an agent says at each contact: how it is, why something is not read, and what of the copy is current. */
export const heartbeat = {
  /** `failing`: the last cycle did not succeed as a whole. */
  state: Type.Enum(['working', 'idle', 'failing']),
  /** The agent's clock as it sends this. */
  sent_at: anyInstant('The clock of the agent'),
  /** The `server_time` of the last answer that the agent got, and its own clock then: between this and `sent_at`, the service knows how clocks differ. */
  answered: Type.Optional(
    Type.Object({ server_time: anyInstant('As answered'), at: anyInstant('The clock of the agent') }, closed),
  ),
  /** Free on the disk of the agent's state. */
  disk_free_bytes: Type.Optional(count),
  /** What is read at the moment. `rows_total`: how many rows of the source that is; null: not known. */
  reading: nullable(Type.Object({ dataset, rows_read: count, rows_total: nullable(count) }, closed)),
  /** At the end of a cycle: all that is wrong, so that what is missing here is over. Left out: nothing is known of it yet. */
  problems: Type.Optional(Type.Array(reportedProblem, { maxItems: 1000 })),
  /** `epoch`: the one in which they were read; the service confirms nothing of another one. */
  confirmed: Type.Optional(
    Type.Object(
      { epoch: Type.String({ minLength: 1, maxLength: 200 }), reads: Type.Array(confirmedRead, { maxItems: 1000 }) },
      closed,
    ),
  ),
}
