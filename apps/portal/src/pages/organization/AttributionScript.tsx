import type { AttributionEntry } from '@bridgework/contract/portal'
import { Button, Group, Loader, Stack, TagsInput, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useAct } from '../../api/query.ts'
import { useMay } from '../../api/session.ts'
import { Snippet } from '../../ui/Copy.tsx'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { useDraftForm } from '../../ui/state/draft.ts'
import { When } from '../../ui/When.tsx'
import { WhoMay } from '../../ui/WhoMay.tsx'

/** One location's script: the line to paste, its domains, its excluded paths, and where it ran. */
export function AttributionScript({ entry, organizationId }: { entry: AttributionEntry; organizationId: string }) {
  const mayUpdate = useMay(organizationId)('attribution.update')
  const update = useAct('updateAttribution')
  const { form, forget } = useDraftForm(`website script ${entry.location_id}`, {
    mode: 'controlled',
    initialValues: { domains: entry.domains, excluded_paths: entry.excluded_paths },
  })
  return (
    <Stack>
      <Snippet label="Paste this before the end of <head> on every page" code={entry.snippet} />
      <Seen entry={entry} />
      <form
        onSubmit={form.onSubmit((body) =>
          update.mutate(
            { params: { organization_id: organizationId, location_id: entry.location_id }, body },
            {
              onSuccess: ({ domains, excluded_paths }) => {
                // The server writes domains and paths in one way; what it keeps is what is shown.
                const saved = { domains, excluded_paths }
                form.setValues(saved)
                form.resetDirty(saved)
                forget()
                notifications.show({ message: `Settings of ${entry.location_name} saved.` })
              },
            },
          ),
        )}
      >
        <Stack gap="sm">
          <TagsInput
            label="Domains"
            description="The domains of this location’s website. On other domains the script does not count as installed. Press Enter after each."
            placeholder="www.example.com"
            maxTags={20}
            disabled={!mayUpdate}
            {...form.getInputProps('domains')}
          />
          <TagsInput
            label="Excluded paths"
            description="The script sends nothing on pages whose path starts with one of these, for example a patient portal. Press Enter after each."
            placeholder="/patient-portal"
            maxTags={20}
            disabled={!mayUpdate}
            {...form.getInputProps('excluded_paths')}
          />
          <ErrorNote error={update.error} />
          {mayUpdate ? (
            <Group>
              <Button type="submit" loading={update.isPending} disabled={!form.isDirty()}>
                Save
              </Button>
            </Group>
          ) : (
            <WhoMay action="attribution.update" what="change domains and paths" />
          )}
        </Stack>
      </form>
    </Stack>
  )
}

function Seen({ entry: { sightings } }: { entry: AttributionEntry }) {
  return (
    <Stack gap="xs" role="status">
      {sightings.length === 0 && (
        <Group gap="sm">
          <Loader size="sm" aria-hidden />
          <Text size="sm">
            Waiting for the script on your website. Open a page of the website; this message updates automatically.
          </Text>
        </Group>
      )}
      {sightings.map(({ origin, is_own_domain, last_seen_at }) => (
        <Group key={origin} gap="xs">
          {is_own_domain ? (
            <IconCircleCheck size={18} aria-hidden color="var(--mantine-color-teal-text)" />
          ) : (
            <IconAlertTriangle size={18} aria-hidden color="var(--mantine-color-orange-text)" />
          )}
          <Text size="sm">
            Seen on <b>{origin}</b> <When at={last_seen_at} />
            {!is_own_domain && ', which is not one of your domains and does not count'}
          </Text>
        </Group>
      ))}
    </Stack>
  )
}
