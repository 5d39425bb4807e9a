import type { PortalBodies } from '@bridgework/contract/portal'
import { Button, Checkbox, Group, Modal, Stack, Textarea, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useAct } from '../../api/query.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { useDraftForm } from '../../ui/state/draft.ts'
import { datasetTitle } from '../organization/access/dataset-title.ts'

/** Asks a practice for access: which datasets, at which locations, and what for. */
export function RequestAccess({
  companyId,
  datasets,
  opened,
  onClose,
}: {
  companyId: string
  datasets: readonly string[]
  opened: boolean
  onClose: () => void
}) {
  const ask = useAct('requestAccess')
  const { form, forget } = useDraftForm(`request ${companyId}`, {
    initialValues: { organization_id: '', datasets: [] as string[], locations: '', purpose: '' },
    validate: {
      organization_id: (value) =>
        /^\d{1,16}$/.test(value.trim()) ? null : 'Enter the id that the practice gave you: digits only.',
      datasets: (value) => (value.length > 0 ? null : 'Choose a dataset at least.'),
      purpose: (value) => (value.trim() === '' ? 'Say what you need the data for.' : null),
    },
  })
  const send = form.onSubmit((values) =>
    ask.mutate(
      {
        params: { company_id: companyId },
        body: { ...values, datasets: values.datasets as PortalBodies['requestAccess']['datasets'] },
      },
      {
        onSuccess: () => {
          forget()
          form.setInitialValues({ organization_id: '', datasets: [], locations: '', purpose: '' })
          form.reset()
          notifications.show({ message: 'The practice has your request.' })
          onClose()
        },
      },
    ),
  )
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Ask a practice for access"
      closeButtonProps={{ 'aria-label': 'Close' }}
      closeOnClickOutside={!ask.isPending}
      transitionProps={{ exitDuration: 0 }}
    >
      <form onSubmit={send} noValidate>
        <Stack>
          <TextInput
            label="Practice id"
            description="The practice finds it on its page “Vendor access”."
            inputMode="numeric"
            autoComplete="off"
            maxLength={20}
            key={form.key('organization_id')}
            {...form.getInputProps('organization_id')}
          />
          <Checkbox.Group
            label="Datasets"
            description="Ask for those that you need, and no others."
            key={form.key('datasets')}
            {...form.getInputProps('datasets')}
          >
            <Stack gap="xs" mt="xs">
              {datasets.map((name) => (
                <Checkbox key={name} value={name} label={datasetTitle(name)} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Textarea
            label="Locations (optional)"
            description="Name them as the practice does. Empty: all locations."
            maxLength={500}
            autosize
            minRows={1}
            key={form.key('locations')}
            {...form.getInputProps('locations')}
          />
          <Textarea
            label="Purpose"
            description="What you need the data for. The practice reads this before it decides."
            maxLength={500}
            autosize
            minRows={2}
            key={form.key('purpose')}
            {...form.getInputProps('purpose')}
          />
          <ErrorNote error={ask.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={ask.isPending}>
              Cancel
            </Button>
            <Button type="submit" loading={ask.isPending}>
              Send request
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
