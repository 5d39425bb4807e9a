import { type Incident, type IncidentState, incidentStates } from '@bridgework/contract/portal'
import { Button, Group, Modal, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useAct } from '../../api/query.ts'
import { useNeedsReason } from '../../api/session.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { incidentStateNames } from '../../ui/IncidentEntry.tsx'
import { ReasonInput } from '../../ui/ReasonInput.tsx'
import { useDraftForm } from '../../ui/state/draft.ts'

type Values = { title: string; state: IncidentState; text: string; reason: string }

/** A new incident, or the next update of one. Everyone can read it as soon as it is published. */
export function PostIncident({ incident, onDone }: { incident: Incident | null; onDone: () => void }) {
  const needsReason = useNeedsReason()
  const open = useAct('openIncident')
  const update = useAct('updateIncident')
  const { form, forget } = useDraftForm<Values>(`incident ${incident?.id ?? 'new'}`, {
    initialValues: { title: '', state: incident?.state ?? 'investigating', text: '', reason: '' },
  })
  const post = async ({ title, state, text, reason }: Values) => {
    const body = { state, text, ...(reason.trim() && { reason }) }
    if (incident) await update.mutateAsync({ params: { incident_id: incident.id }, body })
    else await open.mutateAsync({ body: { title, ...body } })
    forget()
    notifications.show({ message: 'Published on the status page.' })
    onDone()
  }
  return (
    <Modal
      opened
      onClose={onDone}
      title={incident ? `Update “${incident.title}”` : 'New incident'}
      closeButtonProps={{ 'aria-label': 'Close' }}
      size="lg"
    >
      <form onSubmit={form.onSubmit((values) => post(values).catch(() => {}))}>
        <Stack>
          {!incident && (
            <TextInput
              label="Title"
              placeholder="Reads are slow"
              maxLength={200}
              required
              data-autofocus
              key={form.key('title')}
              {...form.getInputProps('title')}
            />
          )}
          <Select
            label="State"
            data={incidentStates.map((value) => ({ value, label: incidentStateNames[value] }))}
            allowDeselect={false}
            key={form.key('state')}
            {...form.getInputProps('state')}
          />
          <Textarea
            label="Text"
            description="Everyone can read it. Name no company, practice or patient."
            minRows={4}
            autosize
            maxLength={2000}
            required
            key={form.key('text')}
            {...form.getInputProps('text')}
          />
          {needsReason && <ReasonInput required key={form.key('reason')} {...form.getInputProps('reason')} />}
          <ErrorNote error={open.error ?? update.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onDone}>
              Cancel
            </Button>
            <Button type="submit" loading={open.isPending || update.isPending}>
              Publish
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
