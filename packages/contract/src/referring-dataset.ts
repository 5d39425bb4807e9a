import { type Static, type TSchema, Type } from 'typebox'
import { commonAttributes, nullable, recordId, sourceId } from './attribute.ts'
import type { FilterName, Lookup, NamedDataset, ReferenceRule, SourceRecord } from './dataset.ts'
import { since, sinceOf } from './shape.ts'

/** An attribute that names a record of this location: our id for vendors, the practice management system's key from agents. */
type OneReference = { kind: 'one'; dataset: string; description: string }
type SeveralReferences = { kind: 'list'; dataset: string; description: string }
type Reference = OneReference | SeveralReferences
/** A list of objects, each with a reference and values. */
type ReferenceList<Name extends string = string, Values extends Record<string, TSchema> = Record<string, TSchema>> = {
  kind: 'objects'
  dataset: string
  name: Name
  values: Values
  description: string
}
type Attribute = TSchema | Reference | ReferenceList

/** What an agent sends, by the attributes that vendors receive. */
type SourceOf<Attributes> = {
  -readonly [Name in keyof Attributes & string as SourceName<Name, Attributes[Name]>]: SourceValue<Attributes[Name]>
} & { is_hidden: boolean }
type SourceName<Name extends string, Each> = Each extends Reference
  ? Name extends `${infer Thing}_id${infer Plural extends '' | 's'}`
    ? `${Thing}_source_id${Plural}`
    : Name
  : Name
type SourceValue<Each> = Each extends OneReference
  ? string | null
  : Each extends SeveralReferences
    ? string[]
    : Each extends ReferenceList<infer Name, infer Values>
      ? ({ [Key in `${Name}_source_id`]: string | null } & { [Key in keyof Values]: Static<Values[Key]> })[]
      : Each extends TSchema
        ? Static<Each>
        : never

/** `<thing>_id`: null when the practice management system has none, or when the record has not been received yet. */
export const reference = (dataset: string, description: string): OneReference => ({ kind: 'one', dataset, description })

/** `<thing>_ids`: the records that have been received. */
export const references = (dataset: string, description: string): SeveralReferences => ({
  kind: 'list',
  dataset,
  description,
})

/** A list of `{ <name>_id, …values }`. */
export const referenceList = <const Name extends string, Values extends Record<string, TSchema>>(
  dataset: string,
  name: Name,
  values: Values,
  description: string,
): ReferenceList<Name, Values> => ({ kind: 'objects', dataset, name, values, description })

/** A dataset whose records refer to others: its source, its rendering and its rules follow from one list of attributes. */
export function defineReferringDataset<
  const Name extends string,
  Attributes extends Record<string, Attribute>,
>(definition: {
  name: Name
  since?: number
  rendering?: number
  type: string
  title: string
  description: string
  notes: readonly string[]
  filters: readonly FilterName[]
  attributes: Attributes
  example: SourceOf<Attributes>
}): NamedDataset<Name, SourceOf<Attributes>> {
  const entries = Object.entries(definition.attributes)
  const renderers = entries.map(([name, attribute]) => [name, rendererOf(name, attribute)] as const)
  return {
    name: definition.name,
    ...(definition.since !== undefined && { since: definition.since }),
    ...(definition.rendering !== undefined && { rendering: definition.rendering }),
    type: definition.type,
    title: definition.title,
    description: definition.description,
    pagination: 'cursor',
    preview: false,
    operationIds: {
      list: `locations_resources_${definition.name}_list`,
      get: `locations_resources_${definition.name}_get`,
      digest: `locations_resources_${definition.name}_digest`,
      export: `locations_resources_${definition.name}_export`,
    },
    source: Type.Object(
      Object.fromEntries([
        ...entries.map(([name, attribute]) => [sourceName(name, attribute), sourceSchema(attribute)] as const),
        ['is_hidden', commonAttributes.is_hidden],
      ]),
      { additionalProperties: false },
    ),
    attributes: Type.Object({
      ...Object.fromEntries(entries.map(([name, attribute]) => [name, vendorSchema(attribute)])),
      is_hidden: commonAttributes.is_hidden,
      source_id: commonAttributes.source_id,
      updated_at: commonAttributes.updated_at,
    }),
    kept: entries.flatMap(([name, attribute]) => (isReference(attribute) ? [sourceName(name, attribute)] : [])),
    refersTo: entries.flatMap(([name, attribute]) => (isReference(attribute) ? [ruleOf(name, attribute)] : [])),
    notes: definition.notes,
    filters: definition.filters,
    filterValues: (source) => filterValues(definition.filters, source),
    render: (source: SourceRecord, lookup) => {
      const attributes: Record<string, unknown> = {}
      for (const [name, render] of renderers) attributes[name] = render(source, lookup)
      attributes.is_hidden = source.is_hidden
      return attributes
    },
    example: definition.example,
  }
}

/** The members that an agent sends where vendors receive an id: `patient_id` → `patient_source_id`. */
function sourceName(name: string, attribute: Attribute): string {
  return isReference(attribute) && attribute.kind !== 'objects' ? name.replace(/_id(s?)$/, '_source_id$1') : name
}

function sourceSchema(attribute: Attribute): TSchema {
  if (!isReference(attribute)) return attribute
  const { description } = attribute
  if (attribute.kind === 'one') return since(sinceOf(attribute), nullable(sourceId(description)))
  if (attribute.kind === 'list') return Type.Array(sourceId('Key of a record'), { description, maxItems: listMax })
  const item = { [`${attribute.name}_source_id`]: nullable(sourceId('Key of a record')), ...attribute.values }
  return Type.Array(Type.Object(item, { additionalProperties: false }), { description, maxItems: listMax })
}

function vendorSchema(attribute: Attribute): TSchema {
  if (!isReference(attribute)) return attribute
  const { description } = attribute
  if (attribute.kind === 'one') return since(sinceOf(attribute), nullable(recordId(description)))
  if (attribute.kind === 'list') return Type.Array(recordId('Id of a record'), { description })
  const item = { [`${attribute.name}_id`]: nullable(recordId('Id of a record')), ...attribute.values }
  return Type.Array(Type.Object(item), { description })
}

function ruleOf(name: string, attribute: Reference | ReferenceList): ReferenceRule {
  const read = sourceName(name, attribute)
  const keysOf = (source: SourceRecord): readonly string[] => {
    // The source fits the schema above: a key or null, a list of keys, or a list of objects with a key or null.
    if (attribute.kind === 'one') return source[read] === null ? [] : [source[read] as string]
    if (attribute.kind === 'list') return source[read] as string[]
    const key = `${attribute.name}_source_id`
    return (source[read] as SourceRecord[]).flatMap((item) => (item[key] === null ? [] : [item[key] as string]))
  }
  return { attribute: name, dataset: attribute.dataset, keysOf, changesWith: [] }
}

/** Made once of each attribute: a million records are rendered with it. */
function rendererOf(name: string, attribute: Attribute): (source: SourceRecord, lookup: Lookup) => unknown {
  if (!isReference(attribute)) return (source) => source[name]
  const read = sourceName(name, attribute)
  const idOf = (key: unknown, lookup: Lookup) =>
    typeof key === 'string' ? (lookup(attribute.dataset, key)?.id ?? null) : null
  // The source fits the schema above.
  if (attribute.kind === 'one') return (source, lookup) => idOf(source[read], lookup)
  if (attribute.kind === 'list')
    return (source, lookup) => (source[read] as string[]).map((key) => idOf(key, lookup)).filter((id) => id !== null)
  const [keyName, idName] = [`${attribute.name}_source_id`, `${attribute.name}_id`]
  return (source, lookup) =>
    (source[read] as SourceRecord[]).map(({ [keyName]: key, ...values }) => ({
      [idName]: idOf(key, lookup),
      ...values,
    }))
}

function filterValues(filters: readonly FilterName[], source: SourceRecord) {
  return {
    ...(filters.includes('patient_id') && { patientSourceId: source.patient_source_id as string | null }),
    ...(filters.includes('starts_at') && { startsAt: source.starts_at as string | null }),
  }
}

function isReference(attribute: Attribute): attribute is Reference | ReferenceList {
  return 'kind' in attribute && typeof attribute.dataset === 'string'
}

/** Longer lists than any real record has; without a limit one line could hold a whole upload. */
const listMax = 1000
