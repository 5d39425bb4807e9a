import type { DisclosureEntry, PatientName } from '@bridgework/contract/portal'
import { Button, Card, Code, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconDownload, IconEye } from '@tabler/icons-react'
import { useSuspenseInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { urlOf } from '../../../api/call.ts'
import { read } from '../../../api/query.ts'
import { DataTable } from '../../../ui/DataTable.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Section } from '../../../ui/Section.tsx'
import { StatCard } from '../../../ui/StatCard.tsx'
import { When } from '../../../ui/When.tsx'
import { titleWithNotes } from '../access/dataset-title.ts'
import { DisclosedRecordsDrawer } from './DisclosedRecords.tsx'
import { DisclosureChart } from './DisclosureChart.tsx'
import { DisclosureFilters } from './DisclosureFilters.tsx'
import { acceptedDisclosureFilter, disclosuresQuery } from './disclosures.ts'
import { PatientAccounting } from './PatientAccounting.tsx'
import { SealSection } from './SealSection.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/disclosures')

/** Who read what, and when: every response that sent, counted or compared records. */
export function DisclosuresPage() {
  const params = route.useParams()
  const filter = acceptedDisclosureFilter(route.useSearch())
  const { data: organization } = useSuspenseQuery(read('getOrganization', { params }))
  const { data: summary } = useSuspenseQuery(read('summarizeDisclosures', { params, query: filter }))
  const list = useSuspenseInfiniteQuery(disclosuresQuery(params.organization_id, filter))
  const rows = list.data.pages.flatMap(({ data }) => data)
  const [shown, setShown] = useState<DisclosureEntry | null>(null)
  const [patient, setPatient] = useState<PatientName | null>(null)
  const records = {
    header: 'Which records',
    isHidden: true,
    cell: (entry: DisclosureEntry) => (
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => setShown(entry)}
        aria-label={`Show records of the read ${entry.request_id}`}
      >
        Show records
      </Button>
    ),
  }
  const isFiltered = Object.values(filter).some(Boolean)
  return (
    <>
      <PageHeader
        title="Disclosures"
        description="Every read of your data by a vendor. Each read is recorded before data is sent, and the record cannot be changed."
        actions={
          rows.length > 0 && (
            <Button
              component="a"
              href={urlOf('exportDisclosures', { params, query: filter })}
              download
              variant="default"
              leftSection={<IconDownload size={16} aria-hidden />}
            >
              Download as CSV
            </Button>
          )
        }
      />
      <Stack>
        <DisclosureFilters
          organizationId={params.organization_id}
          datasets={organization.datasets}
          chosen={{ vendor: rows[0]?.company_name, location: rows[0]?.location_name }}
        />
        {rows.length === 0 ? (
          <Card withBorder>
            <EmptyState icon={IconEye} title={isFiltered ? 'No read matches the filters' : 'No reads yet'}>
              {isFiltered
                ? 'Choose another vendor, location, dataset or period.'
                : 'When a vendor with access reads a record, the read is listed here at once.'}
            </EmptyState>
          </Card>
        ) : (
          <>
            <SimpleGrid cols={{ base: 1, xs: 3 }}>
              <StatCard label="Reads" value={formatCount(summary.total_reads)} />
              <StatCard label="Records" value={formatCount(summary.total_records)} />
              <StatCard label="Vendors" value={summary.vendors.length} />
            </SimpleGrid>
            <Section title="Records read by day" description={`Time zone: ${organization.time_zone ?? 'UTC'}.`}>
              <DisclosureChart summary={summary} />
            </Section>
            <Section
              title="Reads"
              description="Newest first. “Counted” records matched a filter and “compared” ones were checked against a copy by a digest: neither were sent. The names of filters are recorded, never their values."
            >
              <DataTable caption="Disclosures" rows={rows} rowKey={({ id }) => id} columns={[...columns, records]} />
              <ErrorNote error={list.error} />
              {list.hasNextPage && (
                <Button variant="default" onClick={() => list.fetchNextPage()} loading={list.isFetchingNextPage}>
                  Show more
                </Button>
              )}
              <Text size="sm" c="dimmed" role="status">
                {formatCount(rows.length)} of {formatCount(summary.total_reads)} reads
              </Text>
            </Section>
            <SealSection organizationId={params.organization_id} />
          </>
        )}
        <PatientAccounting organization={organization} locationId={filter.location_id} asked={patient} />
      </Stack>
      <DisclosedRecordsDrawer
        organizationId={params.organization_id}
        disclosure={shown}
        onClose={() => setShown(null)}
        onPatient={(chosen) => {
          setShown(null)
          setPatient({ ...chosen })
        }}
      />
    </>
  )
}

/** How many were sent; below it what the answer revealed of records without sending them. */
function recordsOf({ records, counted, digested }: DisclosureEntry) {
  return (
    <>
      {formatCount(records)}
      {counted !== null && (
        <Text size="xs" c="dimmed">
          counted: {formatCount(counted)}
        </Text>
      )}
      {digested !== null && (
        <Text size="xs" c="dimmed">
          compared: {formatCount(digested)}
        </Text>
      )}
    </>
  )
}

const columns = [
  { header: 'When', cell: ({ disclosed_at }: DisclosureEntry) => <When at={disclosed_at} /> },
  { header: 'Vendor', cell: ({ company_name }: DisclosureEntry) => <Text size="sm">{company_name}</Text> },
  { header: 'Location', cell: ({ location_name }: DisclosureEntry) => location_name },
  { header: 'Dataset', cell: (entry: DisclosureEntry) => titleWithNotes(entry) },
  { header: 'Records', align: 'right' as const, cell: recordsOf },
  {
    header: 'Filters',
    cell: ({ filters }: DisclosureEntry) => (filters.length === 0 ? 'none' : filters.join(', ')),
  },
  {
    header: 'Address',
    cell: ({ ip, request_id }: DisclosureEntry) => (
      <>
        <Text size="sm">{ip}</Text>
        <Code>{request_id}</Code>
      </>
    ),
  },
]
