import type { DatasetName } from '@bridgework/contract'
import type { SourceRecord as SentRecord, RecordOf as SentRecordOf, SourceLocation } from '@bridgework/contract/ingest'

export type { DatasetName } from '@bridgework/contract'
export type { JsonValue, SourceLocation } from '@bridgework/contract/ingest'

/** A record as it is sent, with what the agent itself must know of it. */
export type SourceRecord = SentRecord & {
  /**
   * Records, as `dataset/source_id`, whose content or whose place depends on this one. When it goes, or is later read
   * without one of them, that one is read again: nothing else would tell that an appointment lost a treatment.
   */
  readonly bearsOn?: readonly string[]
}

/** One of this dataset, with exactly its attributes. */
export type RecordOf<Name extends DatasetName> = SentRecordOf<Name> & Pick<SourceRecord, 'bearsOn'>

/** Time zones that people set at Bridgework. */
export type ZonesSet = {
  readonly organization: string | null
  /** By the location's `source_id`. */
  readonly locations: ReadonlyMap<string, string>
}

export const noZones: ZonesSet = { organization: null, locations: new Map() }

/** Datasets whose notes some company may read at some location: no other note is read. */
export type NotesRead = ReadonlySet<DatasetName>

export const noNotes: NotesRead = new Set()

/** Values of one column that could not be sent as they are; `rows`: of how many rows. */
export type MendedValues = {
  readonly table: string
  readonly column: string
  readonly mended:
    | 'date_impossible'
    | 'date_out_of_range'
    | 'amount_out_of_range'
    | 'note_cut'
    | 'text_invalid'
    | 'control_characters'
  readonly rows: number
}

/** Something per location, by the location's `source_id`. A location that is missing has nothing. */
export type ByLocation<T> = ReadonlyMap<string, T>

/**
 * What changed since a cursor. `keys` is 'all' when the cursor cannot be trusted (none yet, a restored backup, another
 * database version …); `because` then says why. `cursor` is the one to keep once everything named here has arrived.
 * Its content is the connector's own business.
 */
export type Changes = { readonly cursor: string } & (
  | {
      readonly keys: readonly string[]
      /** True when what is gone is among `keys` (and then not among what `readRecords` gives for them): no list of all keys is needed. */
      readonly namesGone?: boolean
    }
  | { readonly keys: 'all'; readonly because: FullReadReason }
)

/** What the agent has sent of a dataset, for a connector that finds out what is gone. */
export type KnownKeys = {
  /** Keys from `first` to `last`, both included, in the order of their characters. */
  between(first: string, last: string): readonly string[]
  /** Every key, with the `source_id` of its location. */
  each(): Iterable<{ readonly locationKey: string; readonly key: string }>
}

/** A run of neighbouring keys: how many rows it has, and a number that changes when one of them does. */
export type RunDigest = { readonly run: number; readonly rows: number; readonly digest: string }

/** What the agent keeps for a connector that compares its source, run by run, with what it was. Runs are in order. */
export type Digests = {
  /** Where the last cycle ended, in the connector's own words; null when nothing was ever compared. */
  position(): string | null
  keepPosition(position: string): void
  between(series: string, first: number, last: number): Iterable<RunDigest>
  /** The first run that is kept from this one on. */
  nextRun(series: string, from: number): number | null
  /** Rows of all runs of a series together. */
  rows(series: string): number
  /** Keeps these in the place of all from the first to the last. */
  replace(series: string, first: number, last: number, runs: readonly RunDigest[]): void
}

/**
 * All records of a dataset, in chunks of at most a few thousand. `rowsMax`: how many rows of the source it reads for them, counted before; null: not
 * known. `rowsRead`: how many of those rows it has read. A row may become several records, or none.
 */
export type Scan = {
  readonly rowsMax: number | null
  readonly rowsRead: () => number
  readonly chunks: AsyncIterable<ByLocation<readonly SourceRecord[]>>
}

export type FullReadReason =
  | 'first_read'
  | 'daily'
  | 'requested'
  | 'database_version_changed'
  | 'clock_went_back'
  | 'restored_backup'
  | 'many_lookups_changed'
  | 'locations_changed'
  | 'notes_changed'
  | 'contract_changed'
  | 'files_changed'
  | 'source_changed'

/** `reached`: how far the source has come, to be compared later. `wentBack`: says in a sentence that it was further before; null: it was not. */
export type SourceAge = { readonly reached: string; readonly wentBack: string | null }

/** One pass over the source. Everything is read-only and is read in chunks, so that memory stays flat. */
export type SourceCycle = {
  /** `known`: the `source_id` of each location that was read before, for a source that cannot see all of itself. */
  readLocations(known?: ReadonlySet<string>): Promise<readonly SourceLocation[]>
  /** The attributes of this dataset's source that this source never has: their empty values mean that nobody knows. Without it: none. */
  notProvided?(dataset: DatasetName): readonly string[]
  /**
   * Compares the source with how far it was when it was last read (null: never), for a source that can tell an old copy of itself. The text is
   * the connector's own business. A deletion or a step of a clock must not look like an old copy.
   */
  compareAge?(reached: string | null): Promise<SourceAge>
  /** Every key that the dataset has now. What is missing here is what may become hidden. */
  listKeys(dataset: DatasetName): Promise<ByLocation<readonly string[]>>
  /**
   * Looks for what changed without a trace: a part of the source in each cycle, all of it within an hour. What it finds is among what
   * `findChanges` then names. Its result is called when the cycle has ended, with the datasets of which not everything arrived.
   */
  findSilentChanges?(digests: Digests): Promise<(missed: ReadonlySet<DatasetName>) => void>
  findChanges(dataset: DatasetName, cursor: string | null, known?: KnownKeys): Promise<Changes>
  /** How to read everything without a list of all keys, for datasets that outgrow one; without it, `listKeys` and `readRecords`. */
  scan?(dataset: DatasetName): Promise<Scan>
  /** The records with these keys, as far as they still exist, in chunks of at most a few thousand; each key in one chunk only. */
  readRecords(dataset: DatasetName, keys: readonly string[]): AsyncIterable<ByLocation<readonly SourceRecord[]>>
  /**
   * Why this dataset cannot be read in this pass though others can, or null. Asked before anything of it is read, with the cursor that was kept.
   * Without it, every dataset can be read.
   */
  problemOf?(dataset: DatasetName, cursor: string | null): Promise<SourceProblem | null>
  /** What a person should know of a dataset, after it was read. */
  adviceOn?(dataset: DatasetName): string | null
  /** Lines of it that cannot be read are left out: the place of the first, where the source is a file; null: none is. */
  skipped?(dataset: DatasetName): { filePlace: FilePlace | null } | null
  /** How long reading has paused so far, because the source was busy with other work. */
  pausedMs?(): number
  /** What a person should know of the source as it is now, though it can be read; null for nothing new. */
  advice?(): string | null
  /** What could not be sent as it is, among what was read since this was last asked. */
  takeMended?(): readonly MendedValues[]
  /** False when what is missing is not gone, because the source never holds everything. Asked after the dataset was read. */
  isComplete?(dataset: DatasetName): boolean
  /** When things stood as they were read, where that is not now: an export is as old as its file. */
  readAt?(dataset: DatasetName): Date
  /** Throws a `SourceProblem` when what was read since the beginning cannot be relied on. */
  confirm(): Promise<void>
  end(): Promise<void>
}

/** What a practice management system must offer to be read. */
export type Connector = {
  readonly name: string
  /** Parents before children: what others refer to comes first. */
  readonly datasets: readonly DatasetName[]
  /**
   * Throws a `SourceProblem` when the source cannot be read now. A location for which neither `zones` nor the source gives a time zone
   * is read with none, and then nothing else is. Notes of other datasets than `notes` need not be read: they are not sent.
   */
  beginCycle(zones?: ZonesSet, notes?: NotesRead): Promise<SourceCycle>
  check(zones?: ZonesSet, notes?: NotesRead): Promise<SourceCheck>
  /** Resolves when the source has probably changed, or when the signal says so: the next pass need not wait for its time. */
  untilChanged?(signal: AbortSignal): Promise<void>
  /** Closes what the connector keeps open between passes. */
  end?(): Promise<void>
}

/** What `check` found out about the source: its clock, when it could be read, and one finding per question. */
export type SourceCheck = { readonly findings: readonly Finding[]; readonly now: Date | null }

export type Finding = {
  readonly outcome: 'good' | 'advice' | 'wrong'
  readonly what: string
  /** What a person can do about it; null when all is well. */
  readonly todo: string | null
  /** Further lines. `samples` holds patients' values: only the terminal of the person who asked may show them. */
  readonly details?: readonly { readonly what: string; readonly samples: string }[]
}

export type SourceProblemKind =
  | 'unreachable'
  | 'access_denied'
  | 'not_encrypted'
  | 'database_missing'
  | 'not_open_dental'
  | 'rights_missing'
  | 'table_damaged'
  | 'table_missing'
  | 'column_missing'
  | 'update_in_progress'
  | 'version_changed'
  | 'too_slow'
  | 'time_zone_unknown'
  | 'went_back'
  | 'mapping_invalid'
  | 'file_missing'
  | 'file_invalid'
  | 'file_busy'
  | 'unexpected'

/** What of the source a problem is about; `column`: null when it is the whole table. */
export type SourcePlace = { readonly table: string; readonly column: string | null }

/** Where an export file is wrong. `file`: its name as the mapping has it; `line`, `column`: null where they are not known. */
export type FilePlace = { readonly file: string; readonly line: number | null; readonly column: string | null }

/**
 * The source cannot be read, said in words for the office: what is wrong, and what to do. Never holds a row's values. With a `place`, only
 * datasets that need this table cannot be read.
 */
export class SourceProblem extends Error {
  readonly kind: SourceProblemKind
  readonly todo: string
  readonly place: SourcePlace | null
  readonly filePlace: FilePlace | null

  constructor(
    kind: SourceProblemKind,
    what: string,
    todo: string,
    options?: ErrorOptions & { place?: SourcePlace | null; filePlace?: FilePlace | null },
  ) {
    super(what, options)
    this.name = 'SourceProblem'
    this.kind = kind
    this.todo = todo
    this.place = options?.place ?? null
    this.filePlace = options?.filePlace ?? null
  }
}

/** Says which of the locations have no time zone, and where to set one. */
export function timeZoneUnknown(locations: readonly SourceLocation[]): SourceProblem {
  const names = locations.filter((location) => location.time_zone === null).map(({ name }) => name)
  const what = `The time zone of ${names.join(', ')} is not known, so nothing is read. Run "bridgework-agent check" for the reason.`
  return new SourceProblem('time_zone_unknown', what, timeZoneTodo)
}

export const timeZoneTodo =
  'Set it at Bridgework, for the organization or the location, or as "time_zone" in the settings of this agent: a name like America/Chicago.'

/** True for what passes by itself: the cycle is put off and nothing is wrong with the agent. */
export function isPassing(problem: SourceProblem): boolean {
  return problem.kind === 'update_in_progress' || problem.kind === 'version_changed' || problem.kind === 'file_busy'
}
