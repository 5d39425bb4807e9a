import type { JsonValue, SourceRecord } from '../../connector.ts'
import type { Kind } from '../mapping/schema-kind.ts'
import type { ColumnRule } from '../reading/convert.ts'

/** A record with the locations that it belongs to, and the line on which it begins. */
export type LocatedRecord = {
  readonly line: number
  readonly locationKeys: readonly string[]
  readonly record: SourceRecord
}

/** Called with each value that came from a column, and with each record. `check` shows them on a terminal; they are never logged. */
export type RecordWatch = {
  value(seen: SeenValue): void
  record(record: LocatedRecord): void
}
/** Of one file. */
export type ValueWatch = (seen: Omit<SeenValue, 'file'>) => void
export type SeenValue = {
  /** The file as the mapping names it. */
  readonly file: string
  /** As `balance.total`. */
  readonly attribute: string
  readonly kind: Kind
  readonly rule: ColumnRule
  readonly text: string
  readonly value: JsonValue
  readonly timeZone: string | null
}
