import { Type } from 'typebox'
import { commonAttributes } from '../attribute.ts'
import type { Dataset } from '../dataset.ts'
import type { DatasetName, SourceAttributes } from '../datasets.ts'
import { lineSource } from '../shape.ts'

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue }

/** A record as an agent sends it: the practice management system's own key and the dataset's `source` attributes. */
export type SourceRecord = {
  readonly source_id: string
  readonly attributes: { readonly [name: string]: JsonValue }
}

/** The same with exactly the attributes of one dataset: a program that forgets one does not compile. */
export type RecordOf<Name extends DatasetName> = {
  readonly source_id: string
  readonly attributes: SourceAttributes[Name]
}

/** The two kinds of line of an upload of this dataset: a record as it is now, of an agent of any number, and the removal of one. */
export function recordLines(dataset: Dataset) {
  const { source_id } = commonAttributes
  return {
    upsert: Type.Object({ source_id, attributes: lineSource(dataset.source) }, { additionalProperties: false }),
    removal: Type.Object({ source_id, removed: Type.Literal(true) }, { additionalProperties: false }),
  }
}
