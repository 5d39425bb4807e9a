import { Button, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useSignInQuestion } from '../api/fresh-sign-in.ts'
import { goToProvider } from '../api/identity-sign-in.ts'
import { refreshSession, useSession } from '../api/session.ts'
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
        Confirm with {provider.name}
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
      title="Confirm your identity"
      closeButtonProps={{ 'aria-label': 'Close' }}
      closeOnClickOutside={false}
      zIndex={400}
    >
      <Stack>
        <Text size="sm">
          {provider ? 'Sign in again to continue.' : 'Confirm your password to continue.'} You are signed in as{' '}
          <b>{user.email}</b>. Nothing that you entered is lost.
        </Text>
        {provider && fresh_until <= signed_in_at && (
          <Text size="sm">
            At your last sign-in, {provider.name} did not say that you had just signed in there. If that happens again,
            sign in to Bridgework with your password, or ask your IT.
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
