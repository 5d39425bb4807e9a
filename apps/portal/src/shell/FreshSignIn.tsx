import { Modal, Stack, Text } from '@mantine/core'
import { useSignInQuestion } from '../api/fresh-sign-in.ts'
import { refreshSession, useSession } from '../api/session.ts'
import { SignInForm } from '../pages/sign-in/SignInForm.tsx'

/** The one dialog in which a person confirms who they are, over whatever they were doing. */
export function FreshSignIn() {
  const question = useSignInQuestion()
  const { user } = useSession()
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
          This action needs a sign-in within the last 10 minutes. Sign in again as <b>{user.email}</b> to continue.
          Nothing that you entered is lost.
        </Text>
        <SignInForm
          email={user.email}
          onDone={async () => {
            const { user: found } = await refreshSession()
            // The passkey may belong to another person, who must not see this page.
            if (found.id !== user.id) return location.assign('/')
            question?.answer(true)
          }}
        />
      </Stack>
    </Modal>
  )
}
