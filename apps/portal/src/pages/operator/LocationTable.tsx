import type { OperatorOrganizationPage } from '@bridgework/contract/portal'
import { IconMapPin } from '@tabler/icons-react'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageLink } from '../../ui/links.tsx'
import { type State, StateBadge } from '../../ui/StateBadge.tsx'

type Row = OperatorOrganizationPage['locations'][number]

/** Locations with how current their copies are; each leads to its page. */
export function LocationTable({ locations }: { locations: Row[] }) {
  if (locations.length === 0) return <EmptyState icon={IconMapPin} title="No locations yet" />
  return (
    <DataTable
      caption="Locations"
      rows={locations}
      rowKey={({ id }) => id}
      columns={[
        {
          header: 'Location',
          sortBy: 'name',
          sortValue: ({ name }) => name,
          cell: ({ id, name }) => (
            <PageLink size="sm" to="/operator/locations/$location_id" params={{ location_id: id }}>
              {name}
            </PageLink>
          ),
        },
        { header: 'Id', sortBy: 'id', sortValue: ({ id }) => id, cell: ({ id }) => id },
        {
          header: 'State',
          sortBy: 'state',
          sortValue: stateOf,
          cell: (row) => <StateBadge state={stateOf(row)} />,
        },
      ]}
    />
  )
}

function stateOf({ is_active, state }: Row): State {
  return is_active ? state : 'closed'
}
