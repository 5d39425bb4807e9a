import type { AuditEvent } from '@bridgework/contract/portal'
import { Code, Text } from '@mantine/core'
import { DataTable } from '../../ui/DataTable.tsx'
import { When } from '../../ui/When.tsx'
import { actInWords } from './act.ts'

/** Events of a company, a practice, the operator or an account, one per line. */
export function EventTable({ caption, events }: { caption: string; events: readonly AuditEvent[] }) {
  return (
    <DataTable
      caption={caption}
      rows={events}
      rowKey={({ id }) => id}
      columns={[
        { header: 'When', cell: ({ occurred_at }) => <When at={occurred_at} /> },
        { header: 'Who', cell: ({ actor }) => actor },
        {
          header: 'What',
          cell: ({ action, subject, reason }) => (
            <>
              <Text size="sm">{actInWords(action)}</Text>
              {subject && (
                <Text size="sm" c="dimmed">
                  {subject}
                </Text>
              )}
              {reason && (
                <Text size="sm" c="dimmed">
                  Reason: {reason}
                </Text>
              )}
            </>
          ),
        },
        { header: 'Address', cell: ({ ip }) => ip ?? '–' },
        { header: 'Request', cell: ({ request_id }) => (request_id ? <Code>{request_id}</Code> : '–') },
      ]}
    />
  )
}
