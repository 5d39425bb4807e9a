import type { OperatorOrganizationPage } from '@bridgework/contract/portal'
import { IconMapPin } from '@tabler/icons-react'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageLink } from '../../ui/links.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'

/** Locations with how current their copies are; each leads to its page. */
export function LocationTable({ locations }: { locations: OperatorOrganizationPage['locations'] }) {
  if (locations.length === 0) return <EmptyState icon={IconMapPin} title="No locations yet" />
  return (
    <DataTable
      caption="Locations"
      rows={locations}
      rowKey={({ id }) => id}
      columns={[
        {
          header: 'Location',
          cell: ({ id, name }) => (
            <PageLink size="sm" to="/operator/locations/$location_id" params={{ location_id: id }}>
              {name}
            </PageLink>
          ),
        },
        { header: 'Id', cell: ({ id }) => id },
        {
          header: 'State',
          cell: ({ is_active, state }) => <StateBadge state={is_active ? state : 'closed'} />,
        },
      ]}
    />
  )
}
