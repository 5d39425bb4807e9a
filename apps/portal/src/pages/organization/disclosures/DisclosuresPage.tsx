import type { DisclosureEntry, PatientName } from '@bridgework/contract/portal'
import { Button, Card, SimpleGrid, Stack } from '@mantine/core'
import { IconDownload, IconEye } from '@tabler/icons-react'
import { useSuspenseInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { urlOf } from '../../../api/call.ts'
import { read } from '../../../api/query.ts'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Section } from '../../../ui/Section.tsx'
import { StatCard } from '../../../ui/StatCard.tsx'
import { DisclosedRecordsDrawer } from './DisclosedRecords.tsx'
import { DisclosureChart } from './DisclosureChart.tsx'
import { DisclosureDays } from './DisclosureDays.tsx'
import { DisclosureFilters } from './DisclosureFilters.tsx'
import { acceptedDisclosureFilter, disclosureDaysQuery } from './disclosures.ts'
import { PatientAccounting } from './PatientAccounting.tsx'
import { SealSection } from './SealSection.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/disclosures')

/** Who read what, and when: every response that sent, counted or compared records. */
export function DisclosuresPage() {
  const params = route.useParams()
  const filter = acceptedDisclosureFilter(route.useSearch())
  const { data: organization } = useSuspenseQuery(read('getOrganization', { params }))
  const { data: summary } = useSuspenseQuery(read('summarizeDisclosures', { params, query: filter }))
  const list = useSuspenseInfiniteQuery(disclosureDaysQuery(params.organization_id, filter))
  const groups = list.data.pages.flatMap(({ data }) => data)
  const [shown, setShown] = useState<DisclosureEntry | null>(null)
  const [patient, setPatient] = useState<PatientName | null>(null)
  const isFiltered = Object.values(filter).some(Boolean)
  return (
    <>
      <PageHeader
        title="Disclosures"
        description="Every read of your data by a vendor. Each read is recorded before data is sent, and the record cannot be changed."
        actions={
          groups.length > 0 && (
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
        <PatientAccounting organization={organization} locationId={filter.location_id} asked={patient} />
        <DisclosureFilters
          organizationId={params.organization_id}
          datasets={organization.datasets}
          chosen={{ vendor: groups[0]?.company_name, location: groups[0]?.locations.names[0] }}
        />
        {groups.length === 0 ? (
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
            <Section
              title="Records read by day and vendor"
              description={`Time zone: ${organization.time_zone ?? 'UTC'}.`}
            >
              <DisclosureChart summary={summary} />
            </Section>
            <Section
              title="Reads"
              description="The newest day first. “Counted” records matched a filter and “compared” ones were checked against a copy by a digest: neither were sent. The names of filters are recorded, never their values."
            >
              <DisclosureDays
                groups={groups}
                today={list.data.pages[0]?.today ?? ''}
                organizationId={params.organization_id}
                filter={filter}
                onRecords={setShown}
              />
              <ErrorNote error={list.error} />
              {list.hasNextPage && (
                <Button variant="default" onClick={() => list.fetchNextPage()} loading={list.isFetchingNextPage}>
                  Show earlier days
                </Button>
              )}
            </Section>
            <SealSection organizationId={params.organization_id} />
          </>
        )}
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
