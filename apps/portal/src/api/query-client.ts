import { QueryClient } from '@tanstack/react-query'
import { PortalError } from './call.ts'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // What was refused will be refused again; only a server that is away is worth another try.
      retry: (count, error) => count < 2 && error instanceof PortalError && (error.status === 0 || error.status >= 502),
      refetchOnWindowFocus: true,
    },
  },
})
