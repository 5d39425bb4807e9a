import {
  liveRoutes,
  type PortalAnswers,
  type PortalParams,
  type PortalRouteName,
  type ReadRouteName,
  type SignInRouteName,
} from '@bridgework/contract/portal'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { type CallInput, call, callSignIn, type ParamsInput, PortalError, type SignInInput } from './call.ts'
import { useConfirmedAct } from './fresh-sign-in.ts'
import { isLive } from './live.ts'

/** How often a page asks that the service tells of changes, for what it may have missed. */
const liveMs = 60_000

/**
 * A route that reads, as TanStack Query's options: for a route's loader and for useSuspenseQuery, under one key. `everyMs`: refreshes itself, and
 * that seldom while the service tells of changes, unless the answer ages.
 */
export function read<Name extends ReadRouteName>(name: Name, ...[input, { everyMs } = {}]: ReadArguments<Name>) {
  return queryOptions<PortalAnswers[Name]>({
    queryKey: [name, input?.params ?? {}, input?.query ?? {}],
    queryFn: ({ signal, client, queryKey }) => {
      const background = isBackground(client.getQueryState(queryKey), everyMs !== undefined)
      // A route without a body is called with the ids and parameters alone.
      return call(name, { ...input, background, signal } as CallInput<Name>)
    },
    ...(everyMs !== undefined && {
      refetchInterval: () => (isLive() && !liveRoutes[name].ages ? Math.max(everyMs, liveMs) : everyMs),
    }),
  })
}

/** Whether what is known is read again without a person's doing: because it refreshes itself, or because something else changed it. */
export function isBackground(
  state: { data: unknown; isInvalidated: boolean } | undefined,
  refreshes: boolean,
): boolean {
  return state?.data !== undefined && (refreshes || state.isInvalidated)
}

type ReadInput<Name extends PortalRouteName> = ParamsInput<Name> & { query?: Record<string, string | undefined> }

/** A path with ids needs them. */
type ReadArguments<Name extends PortalRouteName> =
  unknown extends PortalParams<Name>
    ? [input?: ReadInput<Name>, options?: { everyMs?: number }]
    : [input: ReadInput<Name>, options?: { everyMs?: number }]

/**
 * A route that changes something. Where the server asks for a sign-in, the person confirms in place and the act is repeated: nothing that
 * they have filled in is lost. Afterwards everything that is shown is read again.
 */
export function useAct<Name extends PortalRouteName>(name: Name) {
  const queries = useQueryClient()
  const confirmed = useConfirmedAct()
  return useMutation({
    mutationFn: (input: CallInput<Name>) => confirmed(() => call(name, input)),
    onSuccess: () => queries.invalidateQueries(),
    // A conflict: what the page shows is no longer so.
    onError: (error) => {
      if (error instanceof PortalError && error.status === 409) return queries.invalidateQueries()
    },
    // Neither what was sent nor what came back outlives the page that asked: either may be a secret.
    gcTime: 0,
  })
}

/** The same for a sign-in route that a signed-in person uses. */
export function useSignInAct<Name extends SignInRouteName>(name: Name) {
  const queries = useQueryClient()
  const confirmed = useConfirmedAct()
  return useMutation({
    mutationFn: (body: SignInInput<Name>) => confirmed(() => callSignIn(name, body)),
    onSuccess: () => queries.invalidateQueries(),
    gcTime: 0,
  })
}
