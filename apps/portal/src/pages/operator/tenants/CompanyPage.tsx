import { Group, Stack } from '@mantine/core'
import { IconBuildingHospital } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { read } from '../../../api/query.ts'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { Facts } from '../../../ui/Facts.tsx'
import { PageLink } from '../../../ui/links.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Section } from '../../../ui/Section.tsx'
import { StateBadge } from '../../../ui/StateBadge.tsx'
import { When } from '../../../ui/When.tsx'
import { UsageCharts } from '../../company/usage/UsageCharts.tsx'
import { RangeControl } from '../RangeControl.tsx'
import { CompanyActions } from './CompanyActions.tsx'
import { ViewAsSupport } from './ViewAsSupport.tsx'

const route = getRouteApi('/signed-in/operator/companies/$company_id')

/** One company: its state, what it asks, and the practices that granted it access. */
export function CompanyPage() {
  const params = route.useParams()
  const { range } = route.useSearch()
  const { data } = useSuspenseQuery(read('getOperatorCompany', { params, query: { range } }, { everyMs: 60_000 }))
  return (
    <>
      <PageHeader
        title={data.name}
        description="A software company. This page updates automatically."
        actions={
          <>
            <RangeControl ranges={['24h', '7d', '30d']} />
            <ViewAsSupport side="company" id={data.id} name={data.name} />
            <CompanyActions company={data} label="Actions" />
          </>
        }
      />
      <Stack>
        <Section title="Company">
          <Facts
            facts={{
              State: <StateBadge state={data.state} />,
              Identity: <StateBadge state={data.verified_at ? 'verified' : 'not_verified'} />,
              Agreement: <StateBadge state={data.agreement_in_force ? 'in_force' : 'not_accepted'} />,
              Keys: data.has_live_key_pair ? 'live' : 'none',
              Owner: data.owner_email,
              'Last request': <When at={data.last_request_at} never="none in 30 days" />,
              Created: <When at={data.created_at} />,
              Id: data.id,
            }}
          />
        </Section>
        <UsageCharts usage={data.usage} />
        <Section title="Practices with a grant" description="At most a hundred, by name.">
          {data.granted_by.length === 0 ? (
            <EmptyState icon={IconBuildingHospital} title="No practice granted access yet" />
          ) : (
            <Group component="ul" gap="md" m={0} p={0} style={{ listStyle: 'none' }}>
              {data.granted_by.map(({ id, name }) => (
                <li key={id}>
                  <PageLink size="sm" to="/operator/organizations/$organization_id" params={{ organization_id: id }}>
                    {name}
                  </PageLink>
                </li>
              ))}
            </Group>
          )}
        </Section>
      </Stack>
    </>
  )
}
