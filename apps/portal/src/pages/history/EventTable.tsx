import type { AuditEvent } from '@bridgework/contract/portal'
import { Spoiler, Text } from '@mantine/core'
import { DataTable } from '../../ui/DataTable.tsx'
import { When } from '../../ui/When.tsx'

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
        { header: 'What', cell: (event) => <What event={event} /> },
        { header: 'Address', cell: ({ ip }) => ip ?? '–' },
      ]}
    />
  )
}

function What({ event: { what, details, reason } }: { event: AuditEvent }) {
  return (
    <>
      <Text size="sm">{what}</Text>
      {details && (
        <Spoiler maxHeight={44} showLabel="More" hideLabel="Less">
          <Text size="sm" c="dimmed">
            {details}
          </Text>
        </Spoiler>
      )}
      {reason && (
        <Text size="sm" c="dimmed">
          Reason: {reason}
        </Text>
      )}
    </>
  )
}
