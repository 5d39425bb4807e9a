/** The document with the named attributes alone, in their own order; `id` and `type` always. Null: all of it, as it is stored. */
export function onlyFields(document: string, fields: readonly string[] | null): string {
  if (fields === null) return document
  const { id, type, attributes } = JSON.parse(document)
  const kept = Object.entries(attributes).filter(([name]) => fields.includes(name))
  return JSON.stringify({ id, type, attributes: Object.fromEntries(kept) })
}
