/** What of JSON Schema the contract's attributes use. */
export type Schema = {
  type?: string
  const?: string
  enum?: string[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  format?: string
  pattern?: string
  description?: string
  deprecated?: boolean
  'x-since'?: number
}
