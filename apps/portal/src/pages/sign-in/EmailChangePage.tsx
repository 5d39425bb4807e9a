import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { callSignIn } from '../../api/call.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { PageLink } from '../../ui/links.tsx'
import type { EmailChangeSearch } from './email-change-search.ts'
import { takeLinkToken } from './link-token.ts'
import { SignedOutPage } from './SignedOutPage.tsx'

const texts = {
  change: {
    title: 'Confirm your new e-mail address',
    description: 'You sign in with the new address from then on. Your sessions on other devices end.',
    button: 'Confirm address',
    done: 'Your e-mail address is changed',
    next: 'Sign in with the new address from now on.',
  },
  undo: {
    title: 'Restore your e-mail address',
    description:
      'All sessions of your account end, and its password stops working. Authenticator apps, recovery codes, passkeys and links to identity providers that were added in the 7 days before the change or since are removed.',
    button: 'Restore address',
    done: 'Your e-mail address is restored',
    next: 'We sent you a mail with a link to choose a new password.',
  },
} as const

/** Changes an e-mail address, or restores the one before, with the link from a mail. A button, because a scanner of mails opens pages too. */
export function EmailChangePage() {
  const token = takeLinkToken()
  const { undo } = useSearch({ strict: false }) as EmailChangeSearch
  const text = undo ? texts.undo : texts.change
  const follow = useMutation({
    mutationFn: () => callSignIn(undo ? 'undoEmailChange' : 'confirmEmailChange', { token }),
    gcTime: 0,
  })
  if (token === '') {
    return (
      <SignedOutPage
        title="This link is incomplete"
        description="Open the link from the mail again. For your safety, reloading this page removes the link."
      >
        <PageLink to="/sign-in">Go to the sign-in page</PageLink>
      </SignedOutPage>
    )
  }
  if (follow.isSuccess) {
    return (
      <SignedOutPage title={text.done} description={text.next}>
        {undo ? (
          <PageLink to="/forgot-password">No mail? Request a new link</PageLink>
        ) : (
          <PageLink to="/account">Go to your account</PageLink>
        )}
      </SignedOutPage>
    )
  }
  return (
    <SignedOutPage title={text.title} description={text.description}>
      <ErrorNote error={follow.error} />
      <Button onClick={() => follow.mutate()} loading={follow.isPending}>
        {text.button}
      </Button>
    </SignedOutPage>
  )
}
