import { Loader } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Navigate } from '@tanstack/react-router'
import { callSignIn } from '../../api/call.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { PageLink } from '../../ui/links.tsx'
import { takeLinkToken } from './link-token.ts'
import { SignedOutPage } from './SignedOutPage.tsx'

/** Confirms an e-mail address by the link that was mailed to it. */
export function VerifyEmailPage() {
  const token = takeLinkToken()
  // A query, for it is to be sent once, however often the page is drawn.
  const verify = useQuery({
    queryKey: ['verifyEmail', token],
    queryFn: () => callSignIn('verifyEmail', { token }),
    enabled: token !== '',
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (verify.isSuccess) return <Navigate to="/sign-in" search={{ notice: 'verified' }} replace />
  if (token !== '' && verify.isPending) {
    return (
      <SignedOutPage title="Confirming your e-mail address">
        <Loader size="sm" aria-label="Confirming" />
      </SignedOutPage>
    )
  }
  return (
    <SignedOutPage
      title="This link is not valid"
      description="It was already used, is older than a day, or is incomplete. If you have confirmed your address, sign in. Otherwise sign up again."
    >
      <ErrorNote error={verify.error} />
      <PageLink to="/sign-in">Go to the sign-in page</PageLink>
      <PageLink to="/sign-up">Sign up</PageLink>
    </SignedOutPage>
  )
}
