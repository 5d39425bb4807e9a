/** What agents send to the ingest API: docs/guides/write-a-connector.md describes each member. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue }

/** A record as an agent sends it: the practice management system's own key and the dataset's `source` attributes. */
export type SourceRecord = {
  readonly source_id: string
  readonly attributes: { readonly [name: string]: JsonValue }
}

/** A location as an agent sends it. Every member is there; null: unknown. */
export type SourceLocation = {
  readonly source_id: string
  readonly name: string
  readonly address_line_1: string | null
  readonly address_line_2: string | null
  readonly city: string | null
  readonly state: string | null
  readonly postal_code: string | null
  readonly country: string | null
  readonly phone: string | null
  readonly email: string | null
  readonly website_url: string | null
  readonly time_zone: string | null
  readonly currency: string | null
  readonly is_active: boolean
  readonly practice_management_system: { readonly name: string; readonly version: string | null }
}
