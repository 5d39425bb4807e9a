import type { LoggedRequest } from '@bridgework/contract/portal'
import { Badge, Button, Code, Group, Text, UnstyledButton } from '@mantine/core'
import { IconListSearch } from '@tabler/icons-react'
import { useSuspenseInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { DataTable } from '../../../ui/DataTable.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { valueInWords } from '../../../ui/format/plot-scale.ts'
import { Section } from '../../../ui/Section.tsx'
import { useUrlState } from '../../../ui/state/url-state.ts'
import { When } from '../../../ui/When.tsx'
import { useCompanyParams } from '../company.ts'
import { RequestDialog } from '../RequestDialog.tsx'
import { RequestFilters } from './RequestFilters.tsx'
import { filterOf, requestsQuery, type UsageSearch } from './usage-search.ts'

/** Each request of the last 30 days, with the id that support needs. */
export function RequestLog() {
  const { company_id } = useCompanyParams()
  const [search] = useUrlState<UsageSearch>()
  const filter = filterOf(search)
  const list = useSuspenseInfiniteQuery(requestsQuery(company_id, filter))
  const [shown, setShown] = useState<LoggedRequest | null>(null)
  const rows = list.data.pages.flatMap(({ data }) => data)
  const isFiltered = Object.keys(filter).length > 0
  return (
    <Section
      title="Request log"
      description="The last 30 days, newest first: at most 50,000 successful requests, 10,000 rate-limited ones, 20,000 other errors and 1,000 failed authentications. Include the request id when you contact support."
    >
      <RequestFilters />
      {rows.length === 0 ? (
        <EmptyState icon={IconListSearch} title={isFiltered ? 'No request matches the filters' : 'No requests yet'}>
          {isFiltered ? 'Change or clear the filters.' : 'A request is listed here within a minute.'}
        </EmptyState>
      ) : (
        <>
          <DataTable
            caption="Request log"
            rows={rows}
            rowKey={({ id }) => id}
            columns={[
              { header: 'When', cell: ({ answered_at }) => <When at={answered_at} /> },
              {
                header: 'Request',
                cell: (request) => (
                  <>
                    <Text size="sm" ff="monospace">
                      {request.method} {request.route.replace('/locations/:location_id', '…')}
                    </Text>
                    {request.location_id && (
                      <Text size="xs" c="dimmed">
                        Location {request.location_id}
                      </Text>
                    )}
                  </>
                ),
              },
              { header: 'Status', cell: (request) => <Status request={request} /> },
              { header: 'Records', align: 'right', cell: ({ records }) => formatCount(records) },
              {
                header: 'Duration',
                align: 'right',
                cell: ({ duration_ms }) => (
                  <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
                    {valueInWords(duration_ms, 'ms')}
                  </Text>
                ),
              },
              {
                header: 'Request id',
                cell: (request) => (
                  <UnstyledButton
                    onClick={() => setShown(request)}
                    aria-label={`Details of request ${request.request_id}`}
                    td="underline"
                  >
                    <Code fz="xs">{request.request_id}</Code>
                  </UnstyledButton>
                ),
              },
            ]}
          />
          <ErrorNote error={list.error} />
          {list.hasNextPage && (
            <Button variant="default" onClick={() => list.fetchNextPage()} loading={list.isFetchingNextPage}>
              Show more
            </Button>
          )}
        </>
      )}
      <RequestDialog request={shown} onClose={() => setShown(null)} />
    </Section>
  )
}

function Status({ request: { status, code } }: { request: LoggedRequest }) {
  return (
    <Group gap="xs">
      <Badge variant="default" radius="sm">
        {status}
      </Badge>
      {code && <Text size="xs">{code}</Text>}
    </Group>
  )
}
