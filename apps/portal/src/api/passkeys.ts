import { queryOptions } from '@tanstack/react-query'
import { callSignIn } from './call.ts'

/** The person's passkeys. */
export const passkeysQuery = queryOptions({
  queryKey: ['listPasskeys'],
  queryFn: () => callSignIn('listPasskeys', undefined),
})
