import { Breadcrumbs, Button, SimpleGrid, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { read, useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { DataTable } from '../../../ui/DataTable.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { PageLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Section } from '../../../ui/Section.tsx'
import { StatCard } from '../../../ui/StatCard.tsx'
import { When } from '../../../ui/When.tsx'
import { WhoMay } from '../../../ui/WhoMay.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/removals/$location_id/$dataset')

/** One removal that waits: what it would hide, and the two ways out. */
export function RemovalPage() {
  const params = route.useParams()
  const navigate = route.useNavigate()
  const { data: removal } = useSuspenseQuery(read('previewRemoval', { params }))
  const mayDecide = useMay(params.organization_id)('removal.decide')
  const confirm = useAct('confirmRemoval')
  const reject = useAct('rejectRemoval')
  const [asked, setAsked] = useState<'confirm' | 'reject' | null>(null)
  const { remaining, visible, title, location_name, list_hash } = removal
  const leave = async (message: string) => {
    notifications.show({ message })
    await navigate({ to: '/organization/$organization_id/removals', params })
  }
  return (
    <>
      <Breadcrumbs mb="xs">
        <PageLink size="sm" to="/organization/$organization_id/removals" params={params}>
          Removals
        </PageLink>
        <Text size="sm">{title}</Text>
      </Breadcrumbs>
      <PageHeader
        title={`${title} of ${location_name}`}
        description={
          removal.location_closed
            ? 'Your practice management system no longer has this location. If you hide its records, vendors see them as removed.'
            : 'These records are missing from your practice management system. If you hide them, vendors see them as removed.'
        }
        actions={
          mayDecide &&
          removal.state === 'held' && (
            <>
              <Button variant="default" onClick={() => setAsked('reject')}>
                Keep records…
              </Button>
              <Button color="red.9" onClick={() => setAsked('confirm')}>
                Hide {formatCount(remaining)} records…
              </Button>
            </>
          )
        }
      />
      <Stack>
        {!mayDecide && <WhoMay action="removal.decide" what="hide or keep these records" />}
        <SimpleGrid cols={{ base: 1, xs: 3 }}>
          <StatCard label="Would be hidden" value={formatCount(remaining)} />
          <StatCard
            label="Would stay"
            value={formatCount(visible - remaining)}
            hint={`of ${formatCount(visible)} that vendors see now`}
          />
          <StatCard label="Held since" value={<When at={removal.held_at} />} />
        </SimpleGrid>
        <Section
          title="Records that would be hidden"
          description={
            removal.records.length < remaining
              ? `The first ${removal.records.length} of ${formatCount(remaining)}, with their key in your system.`
              : 'With their key in your system.'
          }
        >
          <DataTable
            caption="Records that would be hidden"
            rows={removal.records}
            rowKey={({ source_id }) => source_id}
            columns={[
              { header: 'Key', cell: ({ source_id }) => source_id },
              ...(removal.records.some(({ name }) => name !== null)
                ? [{ header: 'Name', cell: ({ name }: { name: string | null }) => name ?? '–' }]
                : []),
              { header: 'Last changed', cell: ({ updated_at }) => <When at={updated_at} /> },
            ]}
          />
        </Section>
      </Stack>
      <ConfirmDialog
        opened={asked === 'confirm'}
        onClose={() => setAsked(null)}
        title={`Hide ${formatCount(remaining)} records?`}
        typed={String(remaining)}
        confirm="Hide records"
        onConfirm={async () => {
          const done = await confirm.mutateAsync({ params, body: { list_hash } })
          const more = done.remaining === 0 ? '' : ` ${formatCount(done.remaining)} more follow in the background.`
          await leave(`${formatCount(done.hidden)} records are hidden.${more}`)
        }}
      >
        At their next read, vendors see these {title.toLowerCase()} of {location_name} as removed. A record that returns
        to your system is shown again.
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'reject'}
        onClose={() => setAsked(null)}
        title="Keep these records?"
        confirm="Keep records"
        color="indigo"
        onConfirm={async () => {
          await reject.mutateAsync({ params, body: { list_hash } })
          await leave('The records stay visible.')
        }}
      >
        {removal.location_closed
          ? 'Nothing is hidden. The records stay visible to vendors although the location has closed.'
          : 'Nothing is hidden, and you are not asked about these records again. If they return to your system, or you want to decide again later, that is possible on the page Removals.'}
      </ConfirmDialog>
    </>
  )
}
