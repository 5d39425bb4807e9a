import type { Static, TObject, TProperties } from 'typebox'

/** A record as it stands in its location's dataset, without the attributes that the service adds to every one. */
export type SourceRecord = Record<string, unknown>

/** What a rendering may look up: a record of the same location by the practice management system's own key. */
export type Lookup = (dataset: string, sourceId: string) => { id: string; source: SourceRecord } | null

/**
 * One dataset of the vendor API as data. Routes, OpenAPI, ingest validation, storage and documentation follow from it.
 * `source` is what an agent sends; `attributes` is what vendors receive. References are `<thing>_source_id` in the one and ids or embedded
 * records in the other.
 */
export type Dataset<Source extends TProperties = TProperties, Attributes extends TProperties = TProperties> = {
  /** The path segment and the name in grants: plural, snake case. */
  name: string
  /** The number of the contract that brought it; absent: the first. */
  since?: number
  /** The `type` of a record: singular, snake case. */
  type: string
  title: string
  description: string
  /** spec: Pagination rules 1–3. */
  pagination: 'cursor' | 'page'
  /** Not yet available in production unless the operator says so. */
  preview: boolean
  operationIds: { list: string; get: string; digest: string; export: string }
  source: TObject<Source>
  attributes: TObject<Attributes>
  /**
   * Members of `source` that `attributes` does not have unchanged under their own names. All others it has, so a stored source is made of a
   * rendered record and these values, in this order: append further ones. Absent: sources are stored whole.
   */
  kept?: readonly (string & keyof Source)[]
  /** Attributes of a single record that its list leaves out. */
  detailAttributes?: TObject
  /** Which records of which other datasets (or of its own) a record's rendering refers to. */
  refersTo: readonly ReferenceRule<Source>[]
  /**
   * Attributes of free text that the practice's staff wrote, of the same name in `source` and `attributes`: null for vendors whose grant does
   * not include notes.
   */
  notes: readonly (string & keyof Source & keyof Attributes)[]
  /** What a list may be filtered by beside the moment of change. */
  filters: readonly FilterName[]
  /** The value of each filter's column. */
  filterValues?: (source: Static<TObject<Source>>) => { patientSourceId?: string | null; startsAt?: string | null }
  /**
   * Raise it when `render` makes something else of the same source: stored records are then rendered anew in the background. An attribute that came
   * later raises the rendering by itself (`renderingOf`). Absent: 1.
   */
  rendering?: number
  /** The attributes that vendors receive, but for `source_id`, `is_hidden` and `updated_at`, which the service adds. Pure. */
  render: (source: Static<TObject<Source>>, lookup: Lookup) => Record<string, unknown>
  renderDetail?: (source: Static<TObject<Source>>) => Record<string, unknown>
  /** A record of invented content, for documentation and tests. */
  example: Static<TObject<Source>>
}

/**
 * `keysOf` gives the practice management system's keys that a record holds. `changesWith`: the referred record's attributes that stand in this
 * one's rendering; empty when only its id does, which never changes once it is known.
 */
export type ReferenceRule<Source extends TProperties = TProperties> = {
  /** The attribute that vendors receive. */
  attribute: string
  dataset: string
  keysOf: (source: Static<TObject<Source>>) => readonly string[]
  changesWith: readonly string[]
}

/** `q[patient_id]`; `q[starts_from]` and `q[starts_to]`. */
export type FilterName = 'patient_id' | 'starts_at'

/** A dataset of which the name and the attributes that an agent sends are known exactly, so that a list can hold all of them. */
export type NamedDataset<Name extends string, Source = SourceRecord> = Dataset & {
  name: Name
  /** For the compiler alone. */
  readonly sourceType?: Source
}

/** Checks a dataset's parts against each other and forgets its exact types, but for the name and what an agent sends. */
export function defineDataset<const Name extends string, Source extends TProperties, Attributes extends TProperties>(
  dataset: Dataset<Source, Attributes> & { name: Name },
): NamedDataset<Name, Static<TObject<Source>>> {
  // The exact schemas matter only between `source`, `render` and `example`, which the parameter has just checked.
  return dataset as unknown as NamedDataset<Name, Static<TObject<Source>>>
}
