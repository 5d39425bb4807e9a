import type { Action } from './action.ts'

/** `anyone`: without a sign-in. `signed_in`: for a signed-in person, about themselves. Anything else: by role. */
type Gate = Action | 'anyone' | 'signed_in'

/** One route of the portal's API. */
export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  action: Gate
  /** Names of the parameters in the query that the route takes. */
  query?: readonly string[]
}

/** The ids of a path, by the names that it has for them: those of `/companies/:company_id` are `{ company_id: string }`. */
export type ParamsOfPath<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { [name in Name]: string } & ParamsOfPath<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { [name in Name]: string }
    : unknown

/** The parameters of a list that is searched and paged. */
export const list = ['search', 'page'] as const

/** The parameters by which a history is filtered. */
export const historyFilter = ['search', 'person', 'kind', 'from', 'to'] as const
