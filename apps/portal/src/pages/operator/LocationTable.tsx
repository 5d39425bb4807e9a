import type { OperatorOrganizationPage } from '@bridgework/contract/portal'
import { IconMapPin } from '@tabler/icons-react'
import { DataTable } from '../../ui/DataTable.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageLink } from '../../ui/links.tsx'
import { locale } from '../../ui/locale.ts'
import { type State, StateBadge } from '../../ui/StateBadge.tsx'
import { type SortedSearch, useUrlState } from '../../ui/url-state.ts'

type Row = OperatorOrganizationPage['locations'][number]

const { compare } = new Intl.Collator(locale, { numeric: true })
const sortedBy: Record<string, (row: Row) => string> = { name: ({ name }) => name, id: ({ id }) => id, state: stateOf }

/** Locations with how current their copies are; each leads to its page. All are here, so the browser sorts them. */
export function LocationTable({ locations }: { locations: Row[] }) {
  const [{ sort = '' }] = useUrlState<SortedSearch>()
  if (locations.length === 0) return <EmptyState icon={IconMapPin} title="No locations yet" />
  return (
    <DataTable
      caption="Locations"
      rows={sorted(locations, sort)}
      rowKey={({ id }) => id}
      columns={[
        {
          header: 'Location',
          sortBy: 'name',
          cell: ({ id, name }) => (
            <PageLink size="sm" to="/operator/locations/$location_id" params={{ location_id: id }}>
              {name}
            </PageLink>
          ),
        },
        { header: 'Id', sortBy: 'id', cell: ({ id }) => id },
        { header: 'State', sortBy: 'state', cell: (row) => <StateBadge state={stateOf(row)} /> },
      ]}
    />
  )
}

function sorted(rows: Row[], sort: string): Row[] {
  const textOf = sortedBy[sort.replace('-', '')]
  if (!textOf) return rows
  const direction = sort.startsWith('-') ? -1 : 1
  return rows.toSorted((a, b) => direction * compare(textOf(a), textOf(b)))
}

function stateOf({ is_active, state }: Row): State {
  return is_active ? state : 'closed'
}
