import { queryOptions } from '@tanstack/react-query'

type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  const?: unknown
  enum?: unknown[]
  description?: string
  default?: unknown
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  allOf?: Schema[]
}
type Media = { schema?: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }
type Response = { description: string; content?: { 'application/json'?: Media } }
type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Schema }
type RawOperation = {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { content: { 'application/json': Media } }
  responses: Record<string, Response | { $ref: string }>
  'x-codeSamples'?: { label: string; source: string }[]
  'x-preview'?: boolean
}

/** What the page reads of the OpenAPI document of the vendor API. */
export type OpenApi = {
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, RawOperation>>
}

/** A value that a request takes: `q[patient_id]` is one by itself. */
export type Field = { name: string; in: string; isRequired: boolean; type: string; description: string }

/** One row of an answer: `data[].attributes.first_name`. */
export type Attribute = { path: string; type: string; description: string }

export type Operation = {
  id: string
  method: string
  path: string
  summary: string
  description: string
  tag: string
  isPreview: boolean
  fields: Field[]
  body: Attribute[]
  samples: { label: string; source: string }[]
  responses: { status: string; description: string; codes: string[] }[]
  attributes: Attribute[]
  example: string | null
}

/** The document that this service gives to programs. */
export const openApiQuery = queryOptions<OpenApi>({
  queryKey: ['openapi'],
  queryFn: async ({ signal }) => {
    const answer = await fetch('/docs/json', { signal })
    if (!answer.ok) throw new Error(`The API document answered ${answer.status}.`)
    return await answer.json()
  },
  staleTime: Number.POSITIVE_INFINITY,
})

/** The operations of a document in its order, with all references resolved. */
export function operationsOf(document: OpenApi): Operation[] {
  const resolve = <T extends object>(node: T | { $ref: string }): T =>
    '$ref' in node && typeof node.$ref === 'string'
      ? resolve(
          node.$ref
            .split('/')
            .slice(1)
            .reduce((part, key) => Object(part)[key], document as unknown) as T,
        )
      : (node as T)
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => {
      const responses = Object.entries(raw.responses).map(
        ([status, each]) => [status, resolve<Response>(each)] as const,
      )
      const success = responses.find(([status]) => status === '200')?.[1].content?.['application/json']
      return {
        id: raw.operationId,
        method: method.toUpperCase(),
        path,
        summary: raw.summary,
        description: raw.description ?? '',
        tag: raw.tags[0] ?? '',
        isPreview: raw['x-preview'] === true,
        fields: (raw.parameters ?? [])
          .map((each) => fieldOf(resolve<Parameter>(each), resolve))
          .sort((one, other) => Number(other.isRequired) - Number(one.isRequired)),
        body: attributesOf(raw.requestBody?.content['application/json'].schema ?? {}, resolve),
        samples: raw['x-codeSamples'] ?? [],
        responses: responses.map(([status, { description, content }]) => ({
          status,
          description,
          codes: Object.keys(content?.['application/json']?.examples ?? {}),
        })),
        attributes: attributesOf(success?.schema ?? {}, resolve),
        example: success?.example === undefined ? null : JSON.stringify(success.example, null, 2),
      }
    }),
  )
}

type Resolve = (schema: Schema) => Schema

function fieldOf({ name, in: place, required, description, schema }: Parameter, resolve: Resolve): Field {
  const type = typeOf(resolve(schema))
  return { in: place, isRequired: required === true, name, type, description: description ?? '' }
}

/** Deeper than any answer of the API: a schema that contained itself would end here. */
const depthMax = 8

function attributesOf(from: Schema, resolve: Resolve, prefix = '', depth = 0): Attribute[] {
  const schema = resolve(from)
  if (depth > depthMax) return []
  const parts = [...(schema.allOf ?? []), ...(schema.anyOf ?? [])].flatMap((part) =>
    attributesOf(part, resolve, prefix, depth + 1),
  )
  const items = schema.items ? attributesOf(schema.items, resolve, `${prefix}[]`, depth + 1) : []
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`
    const found = resolve(each)
    const own = { path, type: typeOf(found), description: found.description ?? '' }
    return [own, ...attributesOf(found, resolve, path, depth + 1)]
  })
  return [...parts, ...items, ...members]
}

function typeOf({ type, format, const: constant, enum: values, default: initial, anyOf }: Schema): string {
  if (!type && anyOf?.every((each) => each.type)) return anyOf.map(typeOf).join(' | ')
  if (constant !== undefined) return JSON.stringify(constant)
  const types = values
    ? values.map((value) => (value === null ? 'null' : String(value)))
    : (Array.isArray(type) ? type : [type ?? 'any']).map((each) => (each === 'string' && format ? format : each))
  return `${types.join(' | ')}${initial === undefined ? '' : `, default ${String(initial)}`}`
}
