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
      title="Confirm that it is you"
      closeButtonProps={{ 'aria-label': 'Close' }}
      closeOnClickOutside={false}
      zIndex={400}
    >
      <Stack>
        <Text size="sm">
          This needs a sign-in of the last 10 minutes. You are signed in as <b>{user.email}</b>. Afterwards it goes on
          where it was.
        </Text>
        <SignInForm
          email={user.email}
          onDone={async () => {
            const { user: found } = await refreshSession()
            // A passkey may have been somebody else's: then this page is not theirs.
            if (found.id !== user.id) return location.assign('/')
            question?.answer(true)
          }}
        />
      </Stack>
    </Modal>
  )
}
