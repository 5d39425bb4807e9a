import type { LocationPage } from '@bridgework/contract/portal'
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { Section } from '../../../ui/Section.tsx'
import { useDraftForm } from '../../../ui/state/draft.ts'
import { TimeZoneSelect } from '../../../ui/TimeZoneSelect.tsx'
import { WhoMay } from '../../../ui/WhoMay.tsx'

/** The time zone that a location's agent reads with, and the one that a person sets for it. */
export function LocationTimeZone(props: {
  location: LocationPage
  params: { organization_id: string; location_id: string }
}) {
  const { location, params } = props
  const mayUpdate = useMay(params.organization_id)('location.update')
  const update = useAct('updateLocation')
  const { form, forget } = useDraftForm(`time zone ${params.location_id}`, {
    mode: 'controlled',
    initialValues: { time_zone: location.assigned_time_zone },
  })
  const isTakenOver = location.assigned_time_zone === null || location.assigned_time_zone === location.time_zone
  return (
    <Section title="Time zone" description="Of this location’s wall clock: appointments are read with it.">
      {location.time_zone === null && (
        <Alert color="orange" mb="md">
          The time zone is not known, so no appointments and no ledger are taken. Set it here.
        </Alert>
      )}
      <form
        onSubmit={form.onSubmit((body) =>
          update.mutate(
            { params, body },
            {
              onSuccess: () => {
                forget()
                form.resetDirty()
                notifications.show({ message: 'Time zone saved. The agent uses it at its next contact.' })
              },
            },
          ),
        )}
      >
        <Stack maw={460}>
          <Text size="sm">In use: {location.time_zone ?? 'none'}</Text>
          {!isTakenOver && (
            <Text size="sm" c="dimmed">
              The agent has not taken over {location.assigned_time_zone} yet, or has a time zone in its own settings.
            </Text>
          )}
          <TimeZoneSelect
            label="Time zone of this location"
            placeholder="The practice’s, or as the agent finds it"
            disabled={!mayUpdate}
            {...form.getInputProps('time_zone')}
          />
          <ErrorNote error={update.error} />
          {mayUpdate ? (
            <Group>
              <Button type="submit" loading={update.isPending} disabled={!form.isDirty()}>
                Save
              </Button>
            </Group>
          ) : (
            <WhoMay action="location.update" what="change this" />
          )}
        </Stack>
      </form>
    </Section>
  )
}
