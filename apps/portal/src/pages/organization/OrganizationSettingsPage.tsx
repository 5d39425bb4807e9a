import { Button, Group, Stack, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read, useAct } from '../../api/query.ts'
import { useMay } from '../../api/session.ts'
import { CopyField } from '../../ui/Copy.tsx'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { useDraftForm } from '../../ui/state/draft.ts'
import { TimeZoneSelect } from '../../ui/TimeZoneSelect.tsx'
import { WhoMay } from '../../ui/WhoMay.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/settings')

/** The practice's name and time zone. */
export function OrganizationSettingsPage() {
  const params = route.useParams()
  const { data: organization } = useSuspenseQuery(read('getOrganization', { params }))
  const mayUpdate = useMay(params.organization_id)('organization.update')
  const update = useAct('updateOrganization')
  const { form, forget } = useDraftForm(`organization ${organization.id}`, {
    mode: 'controlled',
    initialValues: { name: organization.name, time_zone: organization.time_zone },
    validate: { name: (name) => (name.trim() === '' ? 'Enter the practice’s name.' : null) },
  })
  return (
    <>
      <PageHeader
        title="Settings"
        description="The name and the time zone of your practice. Disclosures are counted by day in this time zone."
      />
      <Stack>
        <Section title="Practice">
          <form
            onSubmit={form.onSubmit(({ name, time_zone }) =>
              update.mutate(
                { params, body: { name: name.trim(), time_zone } },
                {
                  onSuccess: () => {
                    forget()
                    form.resetDirty()
                    notifications.show({ message: 'Settings saved.' })
                  },
                },
              ),
            )}
          >
            <Stack maw={460}>
              <TextInput label="Name" maxLength={200} disabled={!mayUpdate} {...form.getInputProps('name')} />
              <TimeZoneSelect
                description="The office agent reads all locations with it, except those with a time zone of their own. It is also the zone of the days in which disclosures are counted."
                placeholder="As the agent finds it"
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
                <WhoMay action="organization.update" what="change these settings" />
              )}
            </Stack>
          </form>
        </Section>
        <Section title="For support" description="Include this id when you contact support.">
          <CopyField label="Practice id" value={organization.id} />
        </Section>
      </Stack>
    </>
  )
}
