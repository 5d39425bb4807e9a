import {
  type PortalAnswers,
  type PortalBodies,
  type PortalParams,
  type PortalRouteName,
  portalApiPath,
  portalRoutes,
  type SignInAnswers,
  type SignInBodies,
  type SignInRouteName,
  signInRoutes,
} from '@bridgework/contract/portal'
import { refusal, t } from '../language/t.ts'

/** What the server refused: `code` for the page, `message` for the person. */
export class PortalError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | null

  constructor(status: number, code: string, message: string, requestId: string | null) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = requestId
  }
}

/** What a route is called with: the ids of its path, its parameters, its body where it takes one. */
export type CallInput<Name extends PortalRouteName> = ParamsInput<Name> & {
  query?: Record<string, string | undefined>
  /** The request of a page that refreshes itself: no person is active, so it does not extend the session. */
  background?: boolean
  signal?: AbortSignal
} & (Name extends keyof PortalBodies ? { body: PortalBodies[Name] } : { body?: undefined })

/** The ids of a path: none may be missing, and a path without any takes none. */
export type ParamsInput<Name extends PortalRouteName> =
  unknown extends PortalParams<Name> ? { params?: undefined } : { params: PortalParams<Name> }

/** The token of this sign-in, which every request that changes something carries. The session's query keeps it. */
let csrfToken = ''
export function setCsrfToken(token: string): void {
  csrfToken = token
}

/** Calls a route of the portal's API. Throws a PortalError for every answer that is not 2xx, and when the server cannot be reached. */
export async function call<Name extends PortalRouteName>(
  name: Name,
  input: CallInput<Name>,
): Promise<PortalAnswers[Name]> {
  const { method } = portalRoutes[name]
  return (await send(method, urlOf(name, input), input)) as PortalAnswers[Name]
}

/** The body of a sign-in route; undefined for a route without one. */
export type SignInInput<Name extends SignInRouteName> = Name extends keyof SignInBodies ? SignInBodies[Name] : undefined

/** Calls a sign-in route, with the errors of `call`. */
export async function callSignIn<Name extends SignInRouteName>(
  name: Name,
  body: SignInInput<Name>,
): Promise<SignInAnswers[Name]> {
  const { method, path } = signInRoutes[name]
  const sent = method === 'POST' ? { body: body ?? {} } : {}
  return (await send(method, `${portalApiPath}${path}`, sent)) as SignInAnswers[Name]
}

/** The address of a route, for links to what the browser itself downloads. */
export function urlOf<Name extends PortalRouteName>(
  name: Name,
  input: ParamsInput<Name> & { query?: Record<string, string | undefined> },
): string {
  const path = portalRoutes[name].path.replace(/:(\w+)/g, (_all, key: string) => {
    const value = (input.params as Record<string, string> | undefined)?.[key]
    if (value === undefined) throw new Error(`${name} needs ${key}`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(input.query ?? {})) if (value) query.set(key, value)
  return `${portalApiPath}${path}${query.size > 0 ? `?${query}` : ''}`
}

async function send(
  method: string,
  url: string,
  input: { body?: object | undefined; background?: boolean; signal?: AbortSignal },
): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(method !== 'GET' && { 'X-CSRF-Token': csrfToken }),
      ...(input.body !== undefined && { 'Content-Type': 'application/json' }),
      ...(input.background && { 'X-Background': 'true' }),
    },
    ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
    ...(input.signal && { signal: input.signal }),
  }).catch((cause: unknown) => {
    if (input.signal?.aborted) throw cause
    throw new PortalError(
      0,
      'unreachable',
      t('Bridgework cannot be reached. Check your connection and try again.'),
      null,
    )
  })
  const text = await response.text()
  const isFile = response.headers.get('content-type')?.startsWith('text/csv')
  const body: unknown = isFile ? text : text === '' ? null : parse(text)
  if (response.ok) return body
  const problem = (body ?? {}) as { errors?: string; code?: string; request_id?: string }
  throw new PortalError(
    response.status,
    problem.code ?? 'internal',
    problem.errors === undefined
      ? t('The server could not answer. Try again in a minute.')
      : refusal(problem.code ?? 'internal', problem.errors),
    problem.request_id ?? response.headers.get('x-request-id'),
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
