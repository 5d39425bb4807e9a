import { type TSchema, Type } from 'typebox'
import type { Dataset } from '../dataset.ts'
import { sinceOf } from '../shape.ts'

/**
 * Makes the one text that stands for a record's attributes on both sides: JSON with its members in the schema's order, so that equal records have
 * equal hashes. The attributes fit the dataset's `source`. What came after the contract's first number is left out where it is null, so that the text is
 * that of an agent which does not know it.
 */
export function canonicalSource(dataset: Dataset): (attributes: unknown) => string {
  const canonical = canonicalizer(dataset.source)
  return (attributes) => JSON.stringify(canonical(attributes))
}

function canonicalizer(schema: TSchema): (value: unknown) => unknown {
  if (Type.IsUnion(schema)) {
    const some = schema.anyOf.find((member: TSchema) => !Type.IsNull(member))
    if (!some) return asIs
    const canonical = canonicalizer(some)
    return canonical === asIs ? asIs : (value) => (value === null ? null : canonical(value))
  }
  if (Type.IsArray(schema)) {
    const canonical = canonicalizer(schema.items)
    return canonical === asIs ? asIs : (value) => (value as unknown[]).map(canonical)
  }
  if (Type.IsObject(schema)) {
    const members = Object.entries(schema.properties).map(
      ([name, member]) => [name, canonicalizer(member), sinceOf(member) > 1] as const,
    )
    return (value) => {
      const ordered: Record<string, unknown> = {}
      for (const [name, canonical, isLater] of members) {
        const each = (value as Record<string, unknown>)[name]
        if (!isLater || (each !== null && each !== undefined)) ordered[name] = canonical(each)
      }
      return ordered
    }
  }
  return asIs
}

function asIs(value: unknown): unknown {
  return value
}
