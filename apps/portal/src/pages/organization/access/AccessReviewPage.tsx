import type { ReaderEntry } from '@bridgework/contract/portal'
import { Button, Group, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { read, useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { DataTable } from '../../../ui/DataTable.tsx'
import { ButtonLink, PageLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Section } from '../../../ui/Section.tsx'
import { When } from '../../../ui/When.tsx'
import { WhoMay } from '../../../ui/WhoMay.tsx'
import { endingReaders, endsSoonDays, unusedDays, unusedReaders } from './access-review.ts'
import { datasetTitle } from './dataset-title.ts'

const route = getRouteApi('/signed-in/organization/$organization_id/access-review')

/** The access that a practice should look at again: unused, or about to end. */
export function AccessReviewPage() {
  const params = route.useParams()
  const { organization_id } = params
  const { data } = useSuspenseQuery(read('listReaders', { params }))
  const may = useMay(organization_id)
  const revoke = useAct('revokeVendorAccess')
  // The vendor as it was when the dialog was opened: what is confirmed is what was read.
  const [revoked, setRevoked] = useState<ReaderEntry | null>(null)
  const table = (caption: string, readers: readonly ReaderEntry[]) => (
    <DataTable
      caption={caption}
      rows={readers}
      rowKey={({ company_id }) => company_id}
      columns={[
        {
          header: 'Vendor',
          cell: ({ company_id, name }) => (
            <PageLink
              size="sm"
              fw={500}
              to="/organization/$organization_id/vendors/$company_id"
              params={{ organization_id, company_id }}
            >
              <bdi>{name}</bdi>
            </PageLink>
          ),
        },
        { header: 'May read', cell: ({ datasets }) => <Text size="sm">{datasets.map(datasetTitle).join(', ')}</Text> },
        { header: 'Last read', cell: ({ last_read_at }) => <When at={last_read_at} /> },
        { header: 'Granted', cell: ({ granted_at }) => <When at={granted_at} never="–" /> },
        { header: 'Ends', cell: ({ ends_at }) => <When at={ends_at} never="no end" /> },
        ...(may('grant.revoke')
          ? [
              {
                header: 'Actions',
                isHidden: true,
                align: 'right' as const,
                cell: (reader: ReaderEntry) => (
                  <Group gap="xs" justify="flex-end">
                    <ButtonLink
                      size="xs"
                      variant="default"
                      to="/organization/$organization_id/vendors/$company_id"
                      params={{ organization_id, company_id: reader.company_id }}
                      aria-label={`Change access of ${reader.name}`}
                    >
                      Change…
                    </ButtonLink>
                    <Button
                      size="xs"
                      variant="default"
                      onClick={() => setRevoked(reader)}
                      aria-label={`Revoke access of ${reader.name}`}
                    >
                      Revoke…
                    </Button>
                  </Group>
                ),
              },
            ]
          : []),
      ]}
    />
  )
  const now = Date.now()
  const unused = unusedReaders(data.data, now)
  const ending = endingReaders(data.data, now)
  const others = data.data.filter((each) => each.has_access && !unused.includes(each) && !ending.includes(each))
  return (
    <>
      <PageHeader
        title="Access review"
        description="Access that you may want to end or to extend. Look here a few times a year."
      />
      <Stack>
        <Section title="Not used" description={`Vendors that have read nothing for ${unusedDays} days.`}>
          {unused.length === 0 ? <None>Every vendor with access has used it.</None> : table('Not used', unused)}
        </Section>
        <Section
          title="Ends soon"
          description={`Access that ends within ${endsSoonDays} days. Set a later day to extend it.`}
        >
          {ending.length === 0 ? <None>No access ends soon.</None> : table('Ends soon', ending)}
        </Section>
        <Section title="All other access">
          {others.length === 0 ? <None>No other vendor has access.</None> : table('All other access', others)}
        </Section>
        {!may('grant.revoke') && <WhoMay action="grant.revoke" what="change access" />}
      </Stack>
      <ConfirmDialog
        opened={revoked !== null}
        onClose={() => setRevoked(null)}
        title={`Revoke all access of ${revoked?.name ?? ''}?`}
        confirm="Revoke everything"
        onConfirm={async () => {
          if (!revoked) return
          await revoke.mutateAsync({ params: { organization_id, company_id: revoked.company_id } })
          notifications.show({ message: `The access of ${revoked.name} is revoked.` })
        }}
      >
        Its next request is refused, at every location. It keeps what it has read already; your disclosures show what
        that is.
      </ConfirmDialog>
    </>
  )
}

function None({ children }: { children: string }) {
  return (
    <Text size="sm" c="dimmed">
      {children}
    </Text>
  )
}
