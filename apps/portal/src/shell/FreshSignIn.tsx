import { Button, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useSignInQuestion } from '../api/fresh-sign-in.ts'
import { goToProvider } from '../api/identity-sign-in.ts'
import { refreshSession, useSession } from '../api/session.ts'
import { t } from '../language/t.ts'
import { SignInForm } from '../pages/sign-in/SignInForm.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'

/** The page goes away for it, and the person repeats what they were doing. Forms keep what was typed. */
function ConfirmAtProvider({ provider }: { provider: { name: string; sign_in_name: string } }) {
  const go = useMutation({
    mutationFn: () => goToProvider({ sign_in_name: provider.sign_in_name, next: location.pathname + location.search }),
  })
  return (
    <>
      <ErrorNote error={go.error} />
      <Button onClick={() => go.mutate()} loading={go.isPending}>
        {t('Confirm with {name}', { name: provider.name })}
      </Button>
    </>
  )
}

/** The one dialog in which a person confirms who they are, over whatever they were doing. */
export function FreshSignIn() {
  const question = useSignInQuestion()
  const { user, through_provider, memberships, signed_in_at, fresh_until } = useSession()
  const provider = through_provider ? (memberships[0]?.identity_provider ?? null) : null
  return (
    <Modal
      opened={question !== null}
      onClose={() => question?.answer(false)}
      title={t('Confirm your identity')}
      closeButtonProps={{ 'aria-label': t('Close') }}
      closeOnClickOutside={false}
      zIndex={400}
    >
      <Stack>
        <Text size="sm">
          {provider ? t('Sign in again to continue.') : t('Confirm your password to continue.')}{' '}
          {t('You are signed in as <b>{email}</b>. Nothing that you entered is lost.', {
            b: (text) => <b>{text}</b>,
            email: user.email,
          })}
        </Text>
        {provider && fresh_until <= signed_in_at && (
          <Text size="sm">
            {t(
              'At your last sign-in, {name} did not say that you had just signed in there. If that happens again, sign in to Bridgework with your password, or ask your IT.',
              { name: provider.name },
            )}
          </Text>
        )}
        {provider && <ConfirmAtProvider provider={provider} />}
        {!provider && (
          <SignInForm
            email={user.email}
            onDone={async () => {
              const { user: found } = await refreshSession()
              // The passkey may belong to another person, who must not see this page.
              if (found.id !== user.id) return location.assign('/')
              question?.answer(true)
            }}
          />
        )}
      </Stack>
    </Modal>
  )
}
