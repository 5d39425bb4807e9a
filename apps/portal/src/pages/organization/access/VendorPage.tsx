import type { VendorPage as Vendor } from '@bridgework/contract/portal'
import { Alert, Breadcrumbs, Button, SimpleGrid, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { read, useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { PageLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Section } from '../../../ui/Section.tsx'
import { StatCard } from '../../../ui/StatCard.tsx'
import { useDraft } from '../../../ui/state/draft.ts'
import { When } from '../../../ui/When.tsx'
import { WhoMay } from '../../../ui/WhoMay.tsx'
import { AccessEditor } from './AccessEditor.tsx'
import { AccessTerms } from './AccessTerms.tsx'
import type { Terms } from './access-terms.ts'
import { GrantHistory } from './GrantHistory.tsx'
import { VendorProfileSection } from './VendorProfileSection.tsx'
import { VendorRequests } from './VendorRequests.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/vendors/$company_id')

/** One vendor: who it is, what it may read where, the way to open more, the way to shut it out. */
export function VendorPage() {
  const params = route.useParams()
  const { organization_id } = params
  const { data: vendor } = useSuspenseQuery(read('getVendor', { params }))
  const { data: organization } = useSuspenseQuery(read('getOrganization', { params: { organization_id } }))
  const { data: requests } = useSuspenseQuery(read('listVendorRequests', { params: { organization_id } }))
  const may = useMay(organization_id)
  const revoke = useAct('revokeVendorAccess')
  const [terms, setTerms] = useDraft<Terms>(`terms of ${vendor.company_id}`)
  const [isRevoking, setRevoking] = useState(false)
  const open = new Set(vendor.locations.flatMap(({ datasets }) => datasets))
  const hasAccess = open.size > 0 || vendor.all_locations.length > 0
  return (
    <>
      <Breadcrumbs mb="xs">
        <PageLink size="sm" to="/organization/$organization_id/vendors" params={{ organization_id }}>
          Vendor access
        </PageLink>
        <Text size="sm">{vendor.name}</Text>
      </Breadcrumbs>
      <PageHeader
        title={vendor.name}
        description={
          hasAccess
            ? 'What this vendor may read. A change is in force at its next request.'
            : 'No access yet. Choose what this vendor may read, and where.'
        }
        actions={
          hasAccess &&
          may('grant.revoke') && (
            <Button color="red.9" onClick={() => setRevoking(true)}>
              Revoke everything
            </Button>
          )
        }
      />
      <Stack>
        <VendorStatus vendor={vendor} />
        {vendor.former_names.length > 0 && (
          <Alert color="orange" icon={<IconAlertTriangle aria-hidden />}>
            <Text size="sm" fw={600} c="bright">
              This vendor has another name now
            </Text>
            {vendor.former_names.map(({ former_name, used_until }) => (
              <Text key={used_until} size="sm" c="bright">
                It was “{former_name}” until <When at={used_until} />.
              </Text>
            ))}
          </Alert>
        )}
        <VendorRequests
          organizationId={organization_id}
          requests={requests.data.filter(
            ({ company_id, state }) => company_id === vendor.company_id && (state === 'open' || state === 'declined'),
          )}
          datasets={organization.datasets}
        />
        {vendor.locations.length === 0 ? (
          <Section title="What it may read">
            <EmptyState icon={IconAlertTriangle} title="Your practice has no location yet">
              Locations appear when an agent has read your practice management system for the first time.
            </EmptyState>
          </Section>
        ) : (
          <AccessEditor
            key={vendor.company_id}
            terms={hasAccess ? null : terms}
            organizationId={organization_id}
            vendor={vendor}
            datasets={organization.datasets}
            mayGrant={may('grant.change')}
          />
        )}
        {!may('grant.change') && <WhoMay action="grant.change" what="grant and revoke access" />}
        <AccessTerms
          key={vendor.ends_at}
          organizationId={organization_id}
          vendor={vendor}
          hasAccess={hasAccess}
          mayGrant={may('grant.change')}
          draft={terms}
          onChange={setTerms}
        />
        <SimpleGrid cols={{ base: 1, xs: 3 }}>
          <StatCard label="Datasets" value={open.size} hint={`of ${organization.datasets.length}`} />
          <StatCard
            label="Locations"
            value={vendor.locations.filter(({ datasets }) => datasets.length > 0).length}
            hint={`of ${vendor.locations.length}`}
          />
          <StatCard
            label="Last read"
            value={<When at={vendor.last_read_at} />}
            hint={
              may('disclosure.read') && (
                <PageLink
                  size="xs"
                  to="/organization/$organization_id/disclosures"
                  params={{ organization_id }}
                  search={{ company_id: vendor.company_id }}
                >
                  What it read
                </PageLink>
              )
            }
          />
        </SimpleGrid>
        <VendorProfileSection name={vendor.name} profile={vendor.profile} />
        <Section title="History of grants" description="Each change of access and who made it, the latest first.">
          {vendor.history.length === 0 ? (
            <Text size="sm" c="dimmed">
              Nothing was ever granted to {vendor.name}.
            </Text>
          ) : (
            <GrantHistory history={vendor.history} />
          )}
        </Section>
      </Stack>
      <ConfirmDialog
        opened={isRevoking}
        onClose={() => setRevoking(false)}
        title={`Revoke all access of ${vendor.name}?`}
        confirm="Revoke everything"
        onConfirm={async () => {
          await revoke.mutateAsync({ params })
          notifications.show({ message: `The access of ${vendor.name} is revoked.` })
        }}
      >
        Its next request is refused, at every location. It keeps what it has read already; your disclosures show what
        that is.
      </ConfirmDialog>
    </>
  )
}

/** What keeps the vendor from reading whatever is granted. */
function VendorStatus({ vendor }: { vendor: Vendor }) {
  const reason =
    vendor.state !== 'active'
      ? `${vendor.name} is ${vendor.state} by the operator: it reads nothing, whatever is granted.`
      : vendor.agreement_in_force
        ? null
        : `${vendor.name} has not accepted the developer agreement: it reads nothing until it has, whatever is granted.`
  if (reason === null) return null
  return (
    <Alert color="orange" icon={<IconAlertTriangle aria-hidden />}>
      <Text size="sm" c="bright">
        {reason}
      </Text>
    </Alert>
  )
}
