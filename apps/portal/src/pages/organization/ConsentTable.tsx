import type { Consent } from '@bridgework/contract/portal'
import { Text } from '@mantine/core'
import { DataTable } from '../../ui/DataTable.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { When } from '../../ui/When.tsx'
import { datasetTitle } from './dataset-title.ts'

/** Consents, given and ended. `withVendor`: of several vendors. */
export function ConsentTable({ consents, withVendor }: { consents: readonly Consent[]; withVendor?: boolean }) {
  return (
    <DataTable
      caption="Consents"
      rows={consents}
      rowKey={(consent) => [consent.company_id, consent.location_id, consent.dataset, consent.granted_at].join(' ')}
      columns={[
        ...(withVendor
          ? [{ header: 'Vendor', cell: ({ company_name }: Consent) => <Text size="sm">{company_name}</Text> }]
          : []),
        { header: 'Dataset', cell: ({ dataset }) => <Text size="sm">{datasetTitle(dataset)}</Text> },
        { header: 'Where', cell: ({ location_name }) => location_name ?? 'All locations, also future ones' },
        {
          header: 'State',
          cell: ({ revoked_at }) => <StateBadge state={revoked_at ? 'revoked' : 'granted'} />,
        },
        { header: 'Granted', cell: (consent) => <Act at={consent.granted_at} by={consent.granted_by} /> },
        { header: 'Revoked', cell: (consent) => <Act at={consent.revoked_at} by={consent.revoked_by} /> },
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
