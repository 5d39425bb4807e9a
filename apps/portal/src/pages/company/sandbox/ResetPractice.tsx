import { Button, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useAct } from '../../../api/query.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { Section } from '../../../ui/Section.tsx'
import { useCompanyParams } from '../company.ts'

/** Makes the company's practice anew, after a question. */
export function ResetPractice() {
  const params = useCompanyParams()
  const drive = useAct('driveSandbox')
  const [isAsking, { open, close }] = useDisclosure()
  return (
    <Section title="Reset" description="Your practice is erased and made anew, with other ids.">
      <Group>
        <Button color="red.9" onClick={open}>
          Reset practice…
        </Button>
      </Group>
      <ConfirmDialog
        opened={isAsking}
        onClose={close}
        title="Reset the practice?"
        confirm="Reset practice"
        onConfirm={async () => {
          await drive.mutateAsync({ params, body: { action: 'reset' } })
          notifications.show({ message: 'The practice was made anew.' })
        }}
      >
        All of its locations and records are erased, and new ones get other ids: what your software keeps of the
        practice is of no use after this. It takes some seconds.
      </ConfirmDialog>
    </Section>
  )
}
