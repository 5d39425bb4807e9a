import type { GrantEntry } from '@bridgework/contract/portal'
import { Text } from '@mantine/core'
import { DataTable } from '../../../ui/DataTable.tsx'
import { StateBadge } from '../../../ui/StateBadge.tsx'
import { When } from '../../../ui/When.tsx'
import { titleWithNotes } from './dataset-title.ts'

/** Grants, in force and ended. `withVendor`: of several vendors. */
export function GrantTable({ grants, withVendor }: { grants: readonly GrantEntry[]; withVendor?: boolean }) {
  return (
    <DataTable
      caption="Grants"
      rows={grants}
      rowKey={(grant) => [grant.company_id, grant.location_id, grant.dataset, grant.granted_at].join(' ')}
      columns={[
        ...(withVendor
          ? [{ header: 'Vendor', cell: ({ company_name }: GrantEntry) => <Text size="sm">{company_name}</Text> }]
          : []),
        { header: 'Dataset', cell: (grant) => <Text size="sm">{titleWithNotes(grant)}</Text> },
        { header: 'Where', cell: ({ location_name }) => location_name ?? 'All locations, also future ones' },
        {
          header: 'State',
          cell: ({ revoked_at, ends_at }) => (
            <StateBadge state={revoked_at || (ends_at && Date.parse(ends_at) <= Date.now()) ? 'revoked' : 'granted'} />
          ),
        },
        { header: 'Purpose', cell: ({ purpose }) => <Text size="sm">{purpose ?? '–'}</Text> },
        { header: 'Ends', cell: ({ ends_at }) => <When at={ends_at} never="–" /> },
        { header: 'Granted', cell: (grant) => <Act at={grant.granted_at} by={grant.granted_by} /> },
        { header: 'Revoked', cell: (grant) => <Act at={grant.revoked_at} by={grant.revoked_by} /> },
      ]}
    />
  )
}

function Act({ at, by }: { at: string | null; by: string | null }) {
  if (at === null) return <>–</>
  return (
    <>
      <Text size="sm" component="div">
        <When at={at} />
      </Text>
      <Text size="xs" c="dimmed">
        {by}
      </Text>
    </>
  )
}
