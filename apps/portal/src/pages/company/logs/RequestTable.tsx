import type { LoggedRequest } from '@bridgework/contract/portal'
import { Code, Group, Text, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { DataTable } from '../../../ui/DataTable.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { valueInWords } from '../../../ui/format/plot-scale.ts'
import { When } from '../../../ui/When.tsx'
import { RequestPanel } from './RequestPanel.tsx'
import { StatusBadge } from './StatusBadge.tsx'

/** Requests, a line for each; the id opens a panel with all that is kept of one. */
export function RequestTable({ requests }: { requests: readonly LoggedRequest[] }) {
  const [shown, setShown] = useState<LoggedRequest | null>(null)
  return (
    <>
      <DataTable
        caption="Request log"
        isDense
        rows={requests}
        rowKey={({ id }) => id}
        columns={[
          { header: 'When', cell: ({ answered_at }) => <When at={answered_at} /> },
          {
            header: 'Status',
            cell: ({ status, code }) => (
              <Group gap="xs" wrap="nowrap">
                <StatusBadge status={status} />
                {code && <Text size="xs">{code}</Text>}
              </Group>
            ),
          },
          { header: 'Request', cell: (request) => <Route {...request} /> },
          { header: 'Location', cell: ({ location_id }) => <Text size="xs">{location_id ?? '–'}</Text> },
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
      <RequestPanel request={shown} onClose={() => setShown(null)} />
    </>
  )
}

/** A route's pattern, without the part that most have. */
export function Route({ method, route }: Pick<LoggedRequest, 'method' | 'route'>) {
  return (
    <Text size="sm" ff="monospace">
      {method} {route.replace('/locations/:location_id', '…')}
    </Text>
  )
}
