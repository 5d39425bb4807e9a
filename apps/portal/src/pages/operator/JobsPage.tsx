import { Alert, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { formatCount } from '../../ui/format/locale.ts'
import { PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { StatCard } from '../../ui/StatCard.tsx'
import { When } from '../../ui/When.tsx'
import { datasetTitle } from '../organization/access/dataset-title.ts'

/** Background work: records to render again, mails to send, removals that wait for a person. */
export function JobsPage() {
  const { data: jobs } = useSuspenseQuery(read('getJobs', {}, { everyMs: 5_000 }))
  const { rerendering, mail, removals } = jobs
  return (
    <>
      <PageHeader title="Jobs" description="Background work. Updates automatically." />
      <Stack>
        <Section
          title="Re-rendering"
          description="When a change affects many other records, they are rendered again in batches."
        >
          {rerendering.length === 0 ? (
            <EmptyState icon={IconCircleCheck} title="No records wait" />
          ) : (
            <DataTable
              caption="Records to render again"
              rows={rerendering}
              rowKey={({ location_id, dataset }) => `${location_id} ${dataset}`}
              columns={[
                {
                  header: 'Location',
                  sortBy: 'waiting_location',
                  sortValue: ({ location_id }) => location_id,
                  cell: ({ location_id }) => (
                    <PageLink size="sm" to="/operator/locations/$location_id" params={{ location_id }}>
                      {location_id}
                    </PageLink>
                  ),
                },
                {
                  header: 'Dataset',
                  sortBy: 'waiting_dataset',
                  sortValue: ({ dataset }) => datasetTitle(dataset),
                  cell: ({ dataset }) => datasetTitle(dataset),
                },
                {
                  header: 'Waiting',
                  align: 'right',
                  sortBy: 'waiting',
                  sortValue: ({ waiting }) => waiting,
                  cell: ({ waiting }) => formatCount(waiting),
                },
                {
                  header: 'Oldest',
                  sortBy: 'waiting_since',
                  sortValue: ({ since }) => since,
                  cell: ({ since }) => <When at={since} />,
                },
                {
                  header: 'Problem',
                  cell: ({ failing, last_error }) =>
                    failing === 0 ? '–' : `${formatCount(failing)} failed (${last_error}) and will be tried again`,
                },
              ]}
            />
          )}
        </Section>
        <Section title="Mail" description="Invitations, password resets and notices that are not sent yet.">
          <SimpleGrid cols={{ base: 1, xs: 3 }}>
            <StatCard label="Waiting" value={formatCount(mail.waiting)} />
            <StatCard label="Failing" value={formatCount(mail.failing)} />
            <StatCard label="Oldest" value={<When at={mail.oldest_at} never="–" />} />
          </SimpleGrid>
          {mail.last_error && (
            <Alert color="orange" icon={<IconAlertTriangle aria-hidden />}>
              <Text size="sm" c="bright">
                The last error of the mail server: {mail.last_error}
              </Text>
            </Alert>
          )}
        </Section>
        <Section
          title="Removals"
          description="A held removal waits for a decision of its practice. A large one is carried out in slices."
        >
          {removals.length === 0 ? (
            <EmptyState icon={IconCircleCheck} title="No removals held or running" />
          ) : (
            <DataTable
              caption="Removals"
              rows={removals}
              rowKey={({ location_id, dataset }) => `${location_id} ${dataset}`}
              columns={[
                {
                  header: 'Practice',
                  sortBy: 'organization',
                  sortValue: ({ organization_name }) => organization_name,
                  cell: ({ organization_id, organization_name }) => (
                    <PageLink size="sm" to="/operator/organizations/$organization_id" params={{ organization_id }}>
                      {organization_name}
                    </PageLink>
                  ),
                },
                {
                  header: 'Location',
                  sortBy: 'location',
                  sortValue: ({ location_name }) => location_name,
                  cell: ({ location_id, location_name }) => (
                    <PageLink size="sm" to="/operator/locations/$location_id" params={{ location_id }}>
                      {location_name}
                    </PageLink>
                  ),
                },
                {
                  header: 'Dataset',
                  sortBy: 'dataset',
                  sortValue: ({ dataset }) => datasetTitle(dataset),
                  cell: ({ dataset }) => datasetTitle(dataset),
                },
                {
                  header: 'State',
                  sortBy: 'state',
                  sortValue: ({ state }) => state,
                  cell: ({ state, remaining, hidden, visible }) =>
                    state === 'held'
                      ? `Held: ${formatCount(remaining)} of ${formatCount(visible)}`
                      : `Running: ${formatCount(hidden)} of ${formatCount(hidden + remaining)} are hidden`,
                },
                {
                  header: 'Held',
                  sortBy: 'held',
                  sortValue: ({ held_at }) => held_at,
                  cell: ({ held_at }) => <When at={held_at} />,
                },
                {
                  header: 'Problem',
                  cell: ({ attempts, last_error }) =>
                    attempts === 0 ? '–' : `Failed ${attempts} times (${last_error}) and will be tried again`,
                },
              ]}
            />
          )}
        </Section>
      </Stack>
    </>
  )
}
