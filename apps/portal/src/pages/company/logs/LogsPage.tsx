import { Button, Card, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconListSearch } from '@tabler/icons-react'
import { useSuspenseInfiniteQuery } from '@tanstack/react-query'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { useUrlState } from '../../../ui/state/url-state.ts'
import { useCompanyParams } from '../company.ts'
import { ErrorGroups } from './ErrorGroups.tsx'
import { filterOf, type LogsSearch, requestsQuery } from './logs-search.ts'
import { RequestFilters } from './RequestFilters.tsx'
import { RequestTable } from './RequestTable.tsx'

/** Each request of the last 30 days, or its errors in groups. */
export function LogsPage() {
  const [{ view }, change] = useUrlState<LogsSearch>()
  return (
    <>
      <PageHeader
        title="Logs"
        description="The requests of your software in the last 30 days. Give support the request id."
        actions={
          <SegmentedControl
            aria-label="View"
            value={view ?? 'requests'}
            onChange={(value) => change({ view: value === 'errors' ? value : undefined })}
            data={[
              { value: 'requests', label: 'Requests' },
              { value: 'errors', label: 'Errors' },
            ]}
          />
        }
      />
      <Card withBorder padding="md">
        <Stack>
          <RequestFilters />
          {view === 'errors' ? <ErrorGroups /> : <Requests />}
          <Text size="xs" c="dimmed">
            Kept are at most 50,000 successful requests, 10,000 rate-limited ones, 20,000 other errors and 1,000 failed
            authentications. No token, no value of a parameter and no record is kept.
          </Text>
        </Stack>
      </Card>
    </>
  )
}

function Requests() {
  const { company_id } = useCompanyParams()
  const [search] = useUrlState<LogsSearch>()
  const filter = filterOf(search)
  const list = useSuspenseInfiniteQuery(requestsQuery(company_id, filter))
  const rows = list.data.pages.flatMap(({ data }) => data)
  const isFiltered = Object.keys(filter).length > 0
  if (rows.length === 0) {
    return (
      <EmptyState icon={IconListSearch} title={isFiltered ? 'No request matches the filters' : 'No requests yet'}>
        {isFiltered ? 'Change or clear the filters.' : 'A request is listed here within a minute.'}
      </EmptyState>
    )
  }
  return (
    <>
      <RequestTable requests={rows} />
      <ErrorNote error={list.error} />
      {list.hasNextPage && (
        <Button variant="default" onClick={() => list.fetchNextPage()} loading={list.isFetchingNextPage}>
          Show more
        </Button>
      )}
    </>
  )
}
