import type { KeptRecords as Kept } from '@bridgework/contract/portal'
import { Button, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useAct } from '../../../api/query.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { DataTable } from '../../../ui/DataTable.tsx'
import { formatCount } from '../../../ui/format/locale.ts'
import { Section } from '../../../ui/Section.tsx'
import { When } from '../../../ui/When.tsx'

/** What people decided to keep though it is missing, and the way back to that question. */
export function KeptRecords({
  kept,
  organizationId,
  mayDecide,
}: {
  kept: readonly Kept[]
  organizationId: string
  mayDecide: boolean
}) {
  const review = useAct('reviewRejection')
  const [asked, setAsked] = useState<Kept | null>(null)
  return (
    <Section
      title="Kept"
      description="Records that are missing from your system and stay visible to vendors, because a person decided so."
    >
      <DataTable
        caption="Kept records"
        rows={kept}
        rowKey={({ location_id, dataset, kept_at }) => `${location_id} ${dataset} ${kept_at}`}
        columns={[
          { header: 'Location', cell: ({ location_name }) => <Text size="sm">{location_name}</Text> },
          { header: 'Dataset', cell: ({ title }) => title },
          { header: 'Records', align: 'right', cell: ({ records }) => formatCount(records) },
          { header: 'Kept', cell: ({ kept_at }) => <When at={kept_at} /> },
          {
            header: 'Actions',
            isHidden: true,
            align: 'right',
            cell: (each) =>
              mayDecide && (
                <Button
                  size="xs"
                  variant="default"
                  aria-label={`Decide again about ${each.title} of ${each.location_name}`}
                  onClick={() => setAsked(each)}
                >
                  Decide again…
                </Button>
              ),
          },
        ]}
      />
      <ConfirmDialog
        opened={asked !== null}
        onClose={() => setAsked(null)}
        title="Decide again about these records?"
        confirm="Decide again"
        color="indigo"
        onConfirm={async () => {
          if (!asked) return
          const { location_id, dataset } = asked
          await review.mutateAsync({ params: { organization_id: organizationId, location_id, dataset } })
          notifications.show({ message: 'You are asked again after the next complete read.' })
        }}
      >
        The next complete read of {asked?.title.toLowerCase()} of {asked?.location_name} asks again about every record
        that is still missing. Nothing is hidden until then.
      </ConfirmDialog>
    </Section>
  )
}
