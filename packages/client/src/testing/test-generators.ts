/** What each generator's client is asked for, in one shape. Its calls.ts fulfils it, which tsc checks. */
const shape = `
export type Query = { items?: number; after?: number; 'q[fetch_modified_since]'?: string; 'fields[insurance_plan]'?: string }
type Plan = { id: string; attributes: { plan_name?: string | null; is_hidden?: boolean; source_id?: string } }
export type Page = { data: Plan[]; meta: { next_after: string | null; next_fetch_modified_since: string | null } }
export type Calls = { list: (query: Query) => Promise<Page>; whole: () => Promise<string> }
export const { BASE = '', TOKEN = '', LOCATION = '', SINCE = '' } = process.env
export const headers = { Authorization: \`Bearer \${TOKEN}\` }
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('no body')
  return value
}`

/** Walks the list page by page, asks for a delta and for one attribute, and exports; prints all of it. */
const main = `
import { calls } from './calls.ts'
import { SINCE } from './shape.ts'
const walked = []
for (let after: number | undefined = 0; after !== undefined; ) {
  const { data, meta } = await calls.list({ items: 2, after })
  walked.push(...data)
  after = meta.next_after === null ? undefined : Number(meta.next_after)
}
const { data: changed } = await calls.list({ 'q[fetch_modified_since]': SINCE })
const { data: named } = await calls.list({ 'fields[insurance_plan]': 'plan_name' })
console.log(JSON.stringify({ walked, changed, named, exported: await calls.whole() }))`

export const programFiles = { 'shape.ts': shape, 'main.ts': main, 'package.json': '{ "type": "module" }' }

/** `command`: of the packages' own programs, with openapi.json in the folder. `calls`: how its client is called. */
export type Generator = {
  packages: readonly string[]
  command: string
  config?: [file: string, text: string]
  calls: string
}

/** Those that a clone installs. */
export const ownGenerators: Readonly<Record<string, Generator>> = {
  '@hey-api/openapi-ts': {
    packages: [],
    command: 'openapi-ts',
    config: [
      'openapi-ts.config.mjs',
      `export default { input: './openapi.json', output: { path: './generated', importFileExtension: '.ts' }, logs: { file: false } }`,
    ],
    calls: `
import { client } from './generated/client.gen.ts'
import * as sdk from './generated/sdk.gen.ts'
import { BASE, type Calls, LOCATION, present, TOKEN } from './shape.ts'
client.setConfig({ baseUrl: BASE, auth: () => TOKEN })
const path = { location_id: LOCATION }
export const calls: Calls = {
  list: async (query) => present((await sdk.locationsResourcesInsurancePlansList({ path, query })).data),
  whole: async () => present((await sdk.locationsResourcesInsurancePlansExport({ path, parseAs: 'text' })).data),
}`,
  },
}

/** Those that \`npm run soak -- M05\` installs for this alone. */
export const otherGenerators: Readonly<Record<string, Generator>> = {
  'openapi-fetch': {
    packages: ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0'],
    command: 'openapi-typescript openapi.json -o generated.ts',
    calls: `
import createClient from 'openapi-fetch'
import type { paths } from './generated.ts'
import { BASE, type Calls, headers, LOCATION, present } from './shape.ts'
const client = createClient<paths>({ baseUrl: BASE, headers })
const path = { location_id: LOCATION }
export const calls: Calls = {
  list: async (query) => present((await client.GET('/locations/{location_id}/insurance_plans', { params: { path, query } })).data),
  whole: async () =>
    present((await client.GET('/locations/{location_id}/insurance_plans/export', { params: { path }, parseAs: 'text' })).data),
}`,
  },
  orval: {
    packages: ['orval@7.13.2'],
    command: 'orval --input openapi.json --output generated.ts --client fetch',
    calls: `
import * as api from './generated.ts'
import { BASE, type Calls, headers, LOCATION } from './shape.ts'
const { fetch } = globalThis
globalThis.fetch = (path, options) => fetch(\`\${BASE}\${path}\`, { ...options, headers })
export const calls: Calls = {
  async list(query) {
    const answer = await api.locationsResourcesInsurancePlansList(LOCATION, query)
    if (answer.status !== 200) throw new Error(answer.data.errors)
    return answer.data
  },
  async whole() {
    const answer = await api.locationsResourcesInsurancePlansExport(LOCATION)
    if (answer.status !== 200) throw new Error(answer.data.errors)
    return await answer.stream.text()
  },
}`,
  },
  'swagger-typescript-api': {
    packages: ['swagger-typescript-api@13.13.0'],
    command: 'swagger-typescript-api generate -p openapi.json -o . -n generated.ts',
    calls: `
import { Api } from './generated.ts'
import { BASE, type Calls, headers, LOCATION } from './shape.ts'
const { locations } = new Api({ baseUrl: BASE, baseApiParams: { headers } })
export const calls: Calls = {
  list: async (query) => (await locations.locationsResourcesInsurancePlansList(LOCATION, query)).data,
  whole: async () => (await locations.locationsResourcesInsurancePlansExport(LOCATION)).text(),
}`,
  },
  'openapi-typescript-codegen': {
    packages: ['openapi-typescript-codegen@0.31.0', 'form-data@4.0.6'],
    command: 'openapi --input openapi.json --output generated --client fetch',
    calls: `
import { DataService, OpenAPI } from './generated'
import { BASE, type Calls, LOCATION, TOKEN } from './shape.ts'
Object.assign(OpenAPI, { BASE, TOKEN })
export const calls: Calls = {
  list: (query) =>
    DataService.locationsResourcesInsurancePlansList(LOCATION, query.after, query.items, query['q[fetch_modified_since]'], query['fields[insurance_plan]']),
  whole: () => DataService.locationsResourcesInsurancePlansExport(LOCATION),
}`,
  },
  oazapfts: {
    packages: ['oazapfts@7.5.0'],
    command: 'oazapfts openapi.json generated.ts',
    calls: `
import * as api from './generated.ts'
import { BASE, type Calls, headers, LOCATION } from './shape.ts'
Object.assign(api.defaults, { baseUrl: BASE, headers })
// Its runtime parses whatever has "json" in its type as one JSON text.
const asText: typeof fetch = async (...request) => new Response((await fetch(...request)).body, { headers: { 'Content-Type': 'text/plain' } })
export const calls: Calls = {
  async list({ items, after, 'q[fetch_modified_since]': qFetchModifiedSince, 'fields[insurance_plan]': fieldsInsurancePlan }) {
    const answer = await api.locationsResourcesInsurancePlansList(LOCATION, { items, after, qFetchModifiedSince, fieldsInsurancePlan })
    if (answer.status !== 200) throw new Error(answer.data.errors)
    return answer.data
  },
  async whole() {
    const answer = await api.locationsResourcesInsurancePlansExport(LOCATION, {}, { fetch: asText })
    if (answer.status !== 200) throw new Error(answer.data.errors)
    return answer.data
  },
}`,
  },
  kubb: {
    packages: [
      ...['cli', 'core', 'plugin-oas', 'plugin-ts', 'plugin-client'].map((name) => `@kubb/${name}@4.39.3`),
      'axios@1.21.1',
    ],
    command: 'kubb generate',
    config: [
      'kubb.config.ts',
      `import { defineConfig } from '@kubb/core'
import { pluginClient } from '@kubb/plugin-client'
import { pluginOas } from '@kubb/plugin-oas'
import { pluginTs } from '@kubb/plugin-ts'
export default defineConfig({
  root: '.',
  input: { path: './openapi.json' },
  output: { path: './generated' },
  plugins: [pluginOas({ generators: [] }), pluginTs({ output: { path: 'types' } }), pluginClient({ output: { path: 'clients' } })],
})`,
    ],
    calls: `
import { locationsResourcesInsurancePlansExport } from './generated/clients/locationsResourcesInsurancePlansExport.ts'
import { locationsResourcesInsurancePlansList } from './generated/clients/locationsResourcesInsurancePlansList.ts'
import { BASE, type Calls, headers, LOCATION } from './shape.ts'
const config = { baseURL: BASE, headers }
export const calls: Calls = {
  list: (query) => locationsResourcesInsurancePlansList(LOCATION, query, undefined, config),
  whole: () => locationsResourcesInsurancePlansExport(LOCATION, undefined, config),
}`,
  },
  'openapi-zod-client': {
    packages: ['openapi-zod-client@1.18.3', '@zodios/core@10.9.6', 'zod@3.25.76', 'axios@1.21.1'],
    command: 'openapi-zod-client openapi.json -o generated.ts',
    calls: `
import { createApiClient } from './generated.ts'
import { BASE, type Calls, headers, LOCATION } from './shape.ts'
const client = createApiClient(BASE, { axiosConfig: { headers } })
const params = { location_id: LOCATION }
export const calls: Calls = {
  list: (queries) => client.get('/locations/:location_id/insurance_plans', { params, queries }),
  // It knows only answers of JSON, so the export goes through its axios.
  whole: async () => (await client.axios.get<string>('/locations/' + LOCATION + '/insurance_plans/export', { headers })).data,
}`,
  },
}
