import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { callSignIn } from '../../api/call.ts'
import { t } from '../../language/t.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { PageLink } from '../../ui/links.tsx'
import type { EmailChangeSearch } from './email-change-search.ts'
import { takeLinkToken } from './link-token.ts'
import { SignedOutPage } from './SignedOutPage.tsx'

const texts = {
  change: {
    title: t('Confirm your new e-mail address'),
    description: t('You sign in with the new address from then on. Your sessions on other devices end.'),
    button: t('Confirm address'),
    done: t('Your e-mail address is changed'),
    next: t('Sign in with the new address from now on.'),
  },
  undo: {
    title: t('Restore your e-mail address'),
    description: t(
      'All sessions of your account end, and its password stops working. Authenticator apps, recovery codes, passkeys and links to identity providers that were added in the 7 days before the change or since are removed.',
    ),
    button: t('Restore address'),
    done: t('Your e-mail address is restored'),
    next: t('We sent you a mail with a link to choose a new password.'),
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
        title={t('This link is incomplete')}
        description={t('Open the link from the mail again. For your safety, reloading this page removes the link.')}
      >
        <PageLink to="/sign-in">{t('Go to the sign-in page')}</PageLink>
      </SignedOutPage>
    )
  }
  if (follow.isSuccess) {
    return (
      <SignedOutPage title={text.done} description={text.next}>
        {undo ? (
          <PageLink to="/forgot-password">{t('No mail? Request a new link')}</PageLink>
        ) : (
          <PageLink to="/account">{t('Go to your account')}</PageLink>
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
