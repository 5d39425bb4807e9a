import type { RecentRequest } from '@bridgework/contract/portal'
import { Badge, Code, Group, SegmentedControl, Text } from '@mantine/core'
import { IconListSearch } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { useFound } from '../../ui/found.ts'
import { formatCount } from '../../ui/locale.ts'
import { SearchField } from '../../ui/SearchField.tsx'
import { Section } from '../../ui/Section.tsx'
import { useUrlState } from '../../ui/url-state.ts'
import { When } from '../../ui/When.tsx'
import { useCompanyParams } from './company.ts'
import { type Outcome, outcomeOf, type UsageSearch } from './usage-search.ts'

const outcomeNames: { value: Outcome; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'ok', label: 'Successful' },
  { value: 'throttled', label: '429' },
  { value: 'error', label: 'Errors' },
]

/** The last 100 requests, each with the id that support needs. */
export function RecentRequests() {
  const params = useCompanyParams()
  const [{ outcome = 'all' }, change] = useUrlState<UsageSearch>()
  const requests = useSuspenseQuery(read('listRecentRequests', { params }, { everyMs: 60_000 })).data.data
  const found = useFound(requests, textOf).filter((request) => outcome === 'all' || outcomeOf(request) === outcome)
  return (
    <Section
      title="Last 100 requests"
      description="Include the request id when you contact support."
      actions={
        <>
          <SegmentedControl
            size="xs"
            aria-label="Outcome"
            value={outcome}
            onChange={(value) => change({ outcome: value === 'all' ? undefined : value })}
            data={outcomeNames}
          />
          <SearchField label="Search requests" placeholder="Route, status, code or id" />
        </>
      }
    >
      {found.length === 0 ? (
        <EmptyState
          icon={IconListSearch}
          title={requests.length === 0 ? 'No requests yet' : 'None of the last 100 requests matches'}
        >
          {requests.length === 0 ? 'A request is listed here within a minute.' : 'Try another search or outcome.'}
        </EmptyState>
      ) : (
        <DataTable
          caption="Last 100 requests"
          rows={found}
          rowKey={({ request_id }) => request_id}
          columns={[
            { header: 'When', cell: ({ answered_at }) => <When at={answered_at} /> },
            {
              header: 'Request',
              cell: ({ method, route, location_id }) => (
                <>
                  <Text size="sm" ff="monospace">
                    {method} {route.replace('/locations/:location_id', '…')}
                  </Text>
                  {location_id && (
                    <Text size="xs" c="dimmed">
                      Location {location_id}
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
                  {formatCount(Math.round(duration_ms))} ms
                </Text>
              ),
            },
            { header: 'Request id', cell: ({ request_id }) => <Code fz="xs">{request_id}</Code> },
          ]}
        />
      )}
    </Section>
  )
}

function Status({ request: { status, code } }: { request: RecentRequest }) {
  return (
    <Group gap="xs">
      <Badge variant="default" radius="sm">
        {status}
      </Badge>
      {code && <Text size="xs">{code}</Text>}
    </Group>
  )
}

function textOf({ method, route, status, code, request_id, location_id }: RecentRequest): string {
  return [method, route, status, code, request_id, location_id].join(' ')
}
