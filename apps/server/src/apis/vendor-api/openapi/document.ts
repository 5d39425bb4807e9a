import { type Dataset, type ProblemCode, problems } from '@bridgework/contract'
import { codeSamples } from './code-samples.ts'
import { datasetOf, pascal, recordName } from './components.ts'
import { addExamples, parameterExamples } from './examples.ts'
import { linksOf } from './links.ts'
import { webhooks } from './webhooks.ts'

type Response = { description: string; headers?: object; links?: object; content?: object }
type Parameter = { name: string; in: string; [member: string]: unknown }
type Operation = {
  operationId?: string
  parameters?: unknown[]
  responses?: Record<string, unknown>
  'x-problems'?: ProblemCode[]
}
type Document = {
  paths?: Record<string, { get?: Operation; post?: Operation } | undefined>
  webhooks?: object
  components?: { responses?: object; parameters?: object; headers?: object }
}

/**
 * Adds what the framework cannot know: previews, headers, links, examples, code samples, webhooks, and what a line of an export is. What several
 * operations have in common stands once, under `components`.
 */
export function finishDocument(document: Document): void {
  const shared = { responses: {}, parameters: {}, headers }
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    [item?.get, item?.post].flatMap((operation) => (operation ? [{ path, operation }] : [])),
  )
  for (const { path, operation } of operations) {
    const { operationId = '' } = operation
    const dataset = datasetOf(operationId)
    addExamples(operation)
    addHeadersAndLinks(operation, operationId)
    if (dataset) addParameterExamples(operation, dataset)
    if (dataset && operationId === dataset.operationIds.export) describeLines(operation, dataset)
    if (dataset?.preview) Object.assign(operation, { 'x-preview': true, 'x-not-yet-in-production': true })
    Object.assign(operation, { 'x-codeSamples': codeSamples(path, operationId) })
    shareRefusals(operation, shared.responses)
  }
  shareParameters(
    operations.map(({ operation }) => operation),
    shared.parameters,
  )
  document.components = { ...document.components, ...shared }
  document.webhooks = webhooks
}

const headers = {
  'X-Request-Id': {
    description: 'Id of this request; include it when you contact support',
    required: true,
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before the next request',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    description: 'Bearer, with error="invalid_token" when a token came and was refused',
    required: true,
    schema: { type: 'string' },
  },
  Link: {
    description:
      'The next page, as `<?query>; rel="next"`, relative to the URL of the request. Absent on the last page',
    schema: { type: 'string' },
  },
  'X-Next-Fetch-Modified-Since': {
    description: 'Without `after`: `next_fetch_modified_since` of the last line, for a response that is cut before it',
    schema: { type: 'string', format: 'date-time' },
  },
  'X-Total': {
    description: 'Number of records of the dataset when the response began',
    required: true,
    schema: { type: 'integer' },
  },
  'X-Epoch': {
    description:
      '`epoch` of the last line, for a response that is cut before it. Another one than that of the response that you go on with: begin the export again',
    required: true,
    schema: { type: 'string' },
  },
  HelpLink: {
    description: 'What the guides say of this error, as `</guides/errors#code>; rel="help"`',
    required: true,
    schema: { type: 'string' },
  },
  RateLimit: {
    description: 'How many token requests this address has left, and in how many seconds there will be all again',
    required: true,
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'How many token requests an address has, and in how many seconds',
    required: true,
    schema: { type: 'string' },
  },
}

const exportHeaders = ['X-Next-Fetch-Modified-Since', 'X-Total', 'X-Epoch'] as const

function headersOf(names: readonly (keyof typeof headers)[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function addHeadersAndLinks(operation: Operation, operationId: string): void {
  for (const [status, response] of responsesOf(operation)) {
    const isThrottled = status === '429' || status === '503'
    const isTokenRequest = operationId === 'auth_token_create' && (status === '200' || status === '429')
    response.headers = headersOf([
      'X-Request-Id',
      ...(status === '200' && operationId.endsWith('_list') ? (['Link'] as const) : []),
      ...(status === '200' && operationId.endsWith('_export') ? exportHeaders : []),
      ...(status === '401' ? (['WWW-Authenticate'] as const) : []),
      ...(isThrottled ? (['Retry-After'] as const) : []),
      ...(isTokenRequest ? (['RateLimit', 'RateLimit-Policy'] as const) : []),
    ])
    if (!status.startsWith('2')) Object.assign(response.headers, { Link: { $ref: '#/components/headers/HelpLink' } })
  }
  const links = linksOf(operationId)
  const success = responsesOf(operation).find(([status]) => status === '200')
  if (links && success) success[1].links = links
}

function addParameterExamples(operation: Operation, dataset: Dataset): void {
  const examples = parameterExamples(dataset)
  for (const parameter of parametersOf(operation)) {
    const example = examples[parameter.name]
    if (example !== undefined) Object.assign(parameter, { example })
  }
}

/** The body is text, for generators know no NDJSON. `itemSchema` is OpenAPI 3.2's word for what each line is. */
function describeLines(operation: Operation, dataset: Dataset): void {
  const [, success] = responsesOf(operation).find(([status]) => status === '200') ?? []
  const record = { $ref: `#/components/schemas/${recordName(dataset)}` }
  const last = { $ref: '#/components/schemas/ExportEnd' }
  for (const media of Object.values(success?.content ?? {}))
    Object.assign(media, { 'x-itemSchema': { anyOf: [record, last] } })
}

/** A refusal is named after its codes: operations with the same ones share it. */
function shareRefusals(operation: Operation, shared: Record<string, unknown>): void {
  const codes = operation['x-problems'] ?? []
  for (const [status, response] of responsesOf(operation)) {
    const own = codes.filter((code) => String(problems[code].status) === status)
    if (own.length === 0) continue
    const name = own.map(pascal).join('Or')
    shared[name] = response
    Object.assign(operation.responses ?? {}, { [status]: { $ref: `#/components/responses/${name}` } })
  }
}

/** Parameters that are the same in several operations stand once. */
function shareParameters(operations: readonly Operation[], shared: Record<string, unknown>): void {
  const groups = Map.groupBy(operations.flatMap(parametersOf), (parameter) => JSON.stringify(parameter))
  const names = new Map<string, string>()
  for (const [text, [parameter, ...more]] of groups) {
    if (!parameter || more.length === 0) continue
    const name = parameterName(parameter)
    if (name in shared) throw new Error(`two parameters called ${name}`)
    shared[name] = parameter
    names.set(text, name)
  }
  for (const operation of operations) {
    if (!operation.parameters) continue
    operation.parameters = parametersOf(operation).map((parameter) => {
      const name = names.get(JSON.stringify(parameter))
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
    })
  }
}

/** `LocationId`; `FieldsPatient` of `fields[patient]`. */
function parameterName({ name }: Parameter): string {
  return (name.match(/\w+/g) ?? []).map(pascal).join('')
}

// The framework has just made both of our routes' schemas, without references.
function responsesOf(operation: Operation): [status: string, response: Response][] {
  return Object.entries(operation.responses ?? {}) as [string, Response][]
}

function parametersOf(operation: Operation): Parameter[] {
  return (operation.parameters ?? []) as Parameter[]
}
