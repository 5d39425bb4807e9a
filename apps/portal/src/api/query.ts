import type { PortalAnswers, PortalBodies, PortalRouteName, SignInRouteName } from '@bridgework/contract/portal'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { type CallInput, call, callSignIn, PortalError, type SignInInput } from './call.ts'
import { useConfirmedAct } from './fresh-sign-in.ts'

/** A route that reads, as TanStack Query's options: for a route's loader and for useSuspenseQuery, under one key. `everyMs`: refreshes itself. */
export function read<Name extends Exclude<PortalRouteName, keyof PortalBodies>>(
  name: Name,
  input: { params?: Record<string, string>; query?: Record<string, string | undefined> } = {},
  { everyMs }: { everyMs?: number } = {},
) {
  return queryOptions<PortalAnswers[Name]>({
    queryKey: [name, input.params ?? {}, input.query ?? {}],
    queryFn: ({ signal, client, queryKey }) => {
      const background = everyMs !== undefined && client.getQueryData(queryKey) !== undefined
      // A route without a body is called with the ids and parameters alone.
      return call(name, { ...input, background, signal } as CallInput<Name>)
    },
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  })
}

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
