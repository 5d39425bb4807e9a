import { gzipSync } from 'node:zlib'
import { limits } from '@bridgework/contract'
import {
  type PortalRouteName,
  portalApiPath,
  portalBodies,
  portalRoutes,
  type SignInRouteName,
  signInBodies,
  signInRoutes,
} from '@bridgework/contract/portal'

export type Route = { method: string; pattern: string }

export type WorstRequest = { path: string; headers?: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> }

/**
 * The worst requests of a route, legal and illegal: long paths and queries, and bodies that are deep, wide, long or many, of each size that a
 * body may have, also packed, and made of the route's own schema. `fill` puts ids in the place of the pattern's parameters.
 */
export function worstRequests(route: Route, fill: (pattern: string) => string): WorstRequest[] {
  const path = fill(route.pattern)
  if (!['POST', 'PUT', 'PATCH'].includes(route.method)) return worstAddresses(route.pattern, path)
  return [
    ...worstBodies(schemaOf(route)).map((body) => withJson(path, body)),
    packed(path),
    ...longPaths(route.pattern),
  ]
}

const urlLengthMax = 8_000

function worstAddresses(pattern: string, path: string): WorstRequest[] {
  const room = urlLengthMax - path.length - 200
  const long = ['%25_', 'a', '%F0%9F%A6%B7', '1,', '[']
  const names = [
    'items',
    'after',
    'page',
    'q[fetch_modified_since]',
    'q[patient_id]',
    'fields[patient]',
    'search',
    'from',
  ]
  const queries = [
    '',
    `items=${limits.pageSizeMax}`,
    `items=${limits.pageSizeMax}&q[fetch_modified_since]=2000-01-01T00:00:00Z`,
    'a&'.repeat(room / 2),
    'items=1&'.repeat(room / 8),
    `q${'[a]'.repeat(room / 3)}=1`,
    ...names.flatMap((name) => long.map((text) => `${name}=${text.repeat(room / text.length)}`)),
  ]
  const addresses = queries.map((query) => ({ path: query === '' ? path : `${path}?${query}` }))
  const unpacked = { ...addresses[1], path: addresses[1]?.path ?? path, headers: { 'accept-encoding': 'identity' } }
  return [...addresses, unpacked, ...longPaths(pattern)]
}

/** A text of many kilobytes for each parameter of the path. */
function longPaths(pattern: string): WorstRequest[] {
  const places = pattern.match(/:\w+|\*/g)?.length ?? 0
  if (places === 0) return []
  return ['9', '%2F', 'a'].map((text) => ({
    path: pattern.replace(/:\w+|\*/g, text.repeat((urlLengthMax - 300) / places / text.length)),
  }))
}

type Schema = {
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  maxLength?: number
  maxItems?: number
  maximum?: number
}

/** What the route's body must be, from the contract's tables. */
function schemaOf({ method, pattern }: Route): Schema | null {
  const isThis = (each: { method: string; path: string }) =>
    each.method === method && `${portalApiPath}${each.path}` === pattern
  const names = Object.keys(portalRoutes) as PortalRouteName[]
  const signIns = Object.keys(signInRoutes) as SignInRouteName[]
  const name = names.find((each) => isThis(portalRoutes[each]))
  const signIn = signIns.find((each) => isThis(signInRoutes[each]))
  const bodies: Record<string, Schema> = { ...portalBodies, ...signInBodies } as never
  return bodies[name ?? signIn ?? ''] ?? null
}

/** As many kilobytes as the routes take: the token's, most, and those of long lists. */
const sizes = [16, 64, 1024].map((kilobytes) => kilobytes * 1024 - 200)

function worstBodies(schema: Schema | null): string[] {
  const repeated = (text: string, bytes: number) => text.repeat(bytes / text.length)
  const values = (bytes: number) => [
    repeated('[', bytes / 2) + repeated(']', bytes / 2),
    `[${repeated('{},', bytes)}{}]`,
    `{${repeated('"a":{', bytes)}`,
    `{${Array.from({ length: bytes / 12 }, (_, index) => `"${index}":0`).join(',')}}`,
    `"${repeated('\\u0000', bytes)}"`,
    `"${repeated('é́', bytes / 2)}"`,
    repeated('9', bytes),
  ]
  const whole = sizes.flatMap(values)
  if (schema === null) return whole
  const properties = Object.entries(schema.properties ?? {})
  const widest = JSON.stringify(widestOf(schema))
  // Each member in turn is hostile, and the others are right.
  const ofMembers = properties.flatMap(([name]) =>
    values(sizes[1] ?? 0).map((value) => {
      const others = properties.filter(([other]) => other !== name)
      const right = others.map(([other, each]) => `${JSON.stringify(other)}:${JSON.stringify(widestOf(each))}`)
      return `{${[...right, `${JSON.stringify(name)}:${value}`].join(',')}}`
    }),
  )
  return [widest, ...whole, ...ofMembers]
}

/** The widest value that fits. */
function widestOf(schema: Schema): unknown {
  if (schema.anyOf) return widestOf(schema.anyOf[0] ?? {})
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum.at(-1)
  if (schema.properties) {
    return Object.fromEntries(Object.entries(schema.properties).map(([name, each]) => [name, widestOf(each)]))
  }
  if (schema.type === 'array') {
    const items = schema.items ?? {}
    const count = items.enum ? items.enum.length : Math.min(schema.maxItems ?? 1_000, 5_000)
    return Array.from({ length: count }, (_, index) => items.enum?.[index] ?? widestOf(items))
  }
  if (schema.type === 'integer') return schema.maximum ?? Number.MAX_SAFE_INTEGER
  return 'w'.repeat(Math.min(schema.maxLength ?? 1_000, 200_000))
}

function withJson(path: string, body: string): WorstRequest {
  return { path, headers: { 'content-type': 'application/json' }, body }
}

/** 200 MiB of brackets in a few kilobytes. */
function packed(path: string): WorstRequest {
  bomb ??= gzipSync('['.repeat(200 * 2 ** 20), { level: 1 })
  return { path, headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, body: bomb }
}
let bomb: Uint8Array<ArrayBuffer> | undefined
