export type Column = string | number | bigint
export type Columns = Readonly<Record<string, Column>>

/** The clinic that a row of this location is written with. */
export type ClinicOf = (locationKey: string | null) => string

/** How one kind of row is kept by Open Dental. Columns that are not named keep the empty value of their type. */
export type OpenDentalTable<Row> = {
  readonly table: string
  readonly key: string
  /** The column that the database moves whenever a value of the row changes; null when there is none. */
  readonly stamp: 'SecDateTEdit' | 'DateTStamp' | null
  readonly columns: (row: Row, clinicOf: ClinicOf) => Columns
}

/** 0 stands for no reference. A number and not text: compared as text, neighbours above 2^53 would be confused. */
export function reference(key: string | null): bigint {
  return BigInt(key ?? 0)
}

export function flag(value: boolean): number {
  return value ? 1 : 0
}

/** Money is kept as a floating-point number. */
export function amount(cents: number): number {
  return cents / 100
}

export function date(day: string | null): string {
  return day ?? '0001-01-01'
}

export function dateTime(at: string | null): string {
  return (at ?? '0001-01-01T00:00:00').replace('T', ' ')
}
