import type { CompanyPage, UsageNumbers } from '@bridgework/contract/portal'
import { Alert, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { FirstSteps } from '../../ui/FirstSteps.tsx'
import { formatCount } from '../../ui/format/locale.ts'
import { ButtonLink, PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { StatCard } from '../../ui/StatCard.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { When } from '../../ui/When.tsx'
import { useCompany, useCompanyParams } from './company.ts'
import { stepsOf } from './first-steps.ts'

/** A company's first steps, state, and usage of the last 24 hours. */
export function OverviewPage() {
  const params = useCompanyParams()
  const company = useCompany()
  const { totals } = useSuspenseQuery(read('getUsage', { params, query: { range: '24h' } })).data
  const steps = stepsOf(company).map(({ to, link, ...step }) => ({
    ...step,
    action: (
      <ButtonLink size="sm" to={to} params={{ company_id: company.id }}>
        {link}
      </ButtonLink>
    ),
  }))
  return (
    <>
      <PageHeader
        title={company.name}
        documentTitle={`Overview of ${company.name}`}
        description="The agreement, keys, access and usage of your software."
        actions={company.state !== 'active' && <StateBadge state={company.state} />}
      />
      <Stack>
        <Notice company={company} />
        {steps.some(({ isDone }) => !isDone) && <FirstSteps steps={steps} />}
        <Status company={company} />
        <LastDay totals={totals} companyId={company.id} />
      </Stack>
    </>
  )
}

/** What keeps the keys from working, or soon will. */
function Notice({ company: { id, state, agreement, owner } }: { company: CompanyPage }) {
  if (state !== 'active') {
    return (
      <Alert color="orange" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
        <Text size="sm" c="bright">
          {state === 'suspended'
            ? 'This company is suspended: its keys do not work, and nothing of it can be changed. Ask the operator why.'
            : 'This company is closed: its keys do not work, and nothing of it can be changed. If this is wrong, ask the operator.'}
        </Text>
      </Alert>
    )
  }
  if (agreement.accepted_version === null || agreement.accepted_version === agreement.current_version) return null
  return (
    <Alert color="orange" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
      <Text size="sm" c="bright">
        There is a new version of the developer API agreement.{' '}
        {agreement.is_in_force ? (
          <>
            Keys stop working if {owner.name} does not accept it before this time: <When at={agreement.required_at} />.
          </>
        ) : (
          <>Keys do not work until {owner.name} accepts it.</>
        )}{' '}
        <PageLink to="/company/$company_id/agreement" params={{ company_id: id }} underline="always" c="bright" inherit>
          Read the agreement
        </PageLink>
      </Text>
    </Alert>
  )
}

function Status({ company: { agreement, key_pair, connections } }: { company: CompanyPage }) {
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }}>
      <StatCard
        label="Agreement"
        value={<StateBadge state={agreement.is_in_force ? 'in_force' : 'not_accepted'} />}
        hint={agreement.accepted_version === null ? 'No version accepted' : `Version ${agreement.accepted_version}`}
      />
      <StatCard
        label="Key pair"
        value={key_pair ? <StateBadge state="live" /> : 'None'}
        hint={
          key_pair && (
            <>
              Last used: <When at={key_pair.last_used_at} />
            </>
          )
        }
      />
      <StatCard label="Practices" value={formatCount(connections.organizations)} hint="that granted you access" />
      <StatCard label="Locations" value={formatCount(connections.locations)} hint="with data that you may read" />
    </SimpleGrid>
  )
}

function LastDay({ totals, companyId }: { totals: UsageNumbers; companyId: string }) {
  return (
    <Section
      title="Last 24 hours"
      actions={
        <PageLink to="/company/$company_id/usage" params={{ company_id: companyId }} size="sm">
          View usage
        </PageLink>
      }
    >
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        <Figure label="Requests" value={totals.requests} />
        <Figure label="Records" value={totals.records} />
        <Figure label="Rate limited (429)" value={totals.throttled} />
        <Figure label="Other errors" value={totals.errors} />
      </SimpleGrid>
    </Section>
  )
}

function Figure({ label, value }: { label: string; value: number }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text size="lg" fw={600}>
        {formatCount(value)}
      </Text>
    </div>
  )
}
