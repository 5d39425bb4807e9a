/**
 * What a column holds. `id`: one of our ids. `decimal`: money, with two digits after the point. `instant`: a moment; `wall_time`: one on the
 * location's clock, without an offset. `json`: a list or an object.
 */
export type ColumnKind =
  | 'text'
  | 'id'
  | 'integer'
  | 'number'
  | 'decimal'
  | 'boolean'
  | 'date'
  | 'instant'
  | 'wall_time'
  | 'json'

export type TableColumn = {
  readonly name: string
  readonly kind: ColumnKind
  /** Where a record's attributes have it; empty for the item of a list itself. */
  readonly from: readonly string[]
  /** What it is, with its unit. */
  readonly about: string
  /** The dataset that it leads to. */
  readonly to?: string
  /** The number of the contract that brought it; absent: the first. A mirror of an earlier one gets the column, and is not made anew. */
  readonly since?: number
}

/** A table with a row for each item of a list that records have, in order. */
export type TableList = {
  readonly name: string
  /** The column that leads to the record. */
  readonly parent: string
  /** The attribute that is the list. */
  readonly from: string
  readonly about: string
  readonly columns: readonly TableColumn[]
}

export type Table = {
  readonly title: string
  readonly columns: readonly TableColumn[]
  readonly lists: readonly TableList[]
}
