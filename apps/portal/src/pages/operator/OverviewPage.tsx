import type { FreshnessState } from '@bridgework/contract'
import type { OperatorOverview } from '@bridgework/contract/portal'
import { Group, SimpleGrid, Stack, Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconClock,
  IconDeviceDesktop,
  IconShieldCheck,
  IconTrash,
} from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { bytesInWords } from '../../ui/format/bytes.ts'
import { formatCount } from '../../ui/format/locale.ts'
import { ButtonLink, PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { StatCard } from '../../ui/StatCard.tsx'
import { When } from '../../ui/When.tsx'
import { type Todo, TodoList } from '../organization/TodoList.tsx'

/** The state of the installation; updates automatically. */
export function OverviewPage() {
  const { data: overview } = useSuspenseQuery(read('getOperatorOverview', {}, { everyMs: 10_000 }))
  const { counts, database, agents, freshness } = overview
  return (
    <>
      <PageHeader
        title="Overview"
        description={
          <>
            {overview.environment === 'sandbox' ? 'Sandbox' : 'Production'}, started <When at={overview.started_at} />.
            Updates automatically.
          </>
        }
      />
      <Stack>
        <Section title="Needs attention">
          <TodoList
            todos={todosOf(overview)}
            whenEmpty={
              <Group gap="xs">
                <IconCircleCheck size={18} aria-hidden color="var(--mantine-color-teal-text)" />
                <Text size="sm">Nothing to do. All agents are connected, and all locations are current.</Text>
              </Group>
            }
          />
        </Section>
        <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
          <StatCard label="Companies" value={formatCount(counts.companies)} />
          <StatCard label="Practices" value={formatCount(counts.organizations)} />
          <StatCard label="Locations" value={formatCount(counts.locations)} />
          <StatCard label="Records" value={formatCount(counts.records)} />
          <StatCard label="Disclosures" value={formatCount(counts.disclosures)} />
          <StatCard label="Agents" value={formatCount(counts.agents)} />
        </SimpleGrid>
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Section title="Agents" description="Connected: last contact within 3 minutes.">
            <SimpleGrid cols={3}>
              <StatCard label="Connected" value={agents.connected} />
              <StatCard label="Not reporting" value={agents.silent} />
              <StatCard label="Never connected" value={agents.never_heard} />
            </SimpleGrid>
          </Section>
          <Section title="Freshness" description="Locations, by their least current dataset.">
            <SimpleGrid cols={2}>
              <StatCard label="Current" value={freshness.current} />
              <StatCard label="Stale" value={freshness.stale} />
              <StatCard label="Disconnected" value={freshness.disconnected} />
              <StatCard label="Pending" value={freshness.pending} />
            </SimpleGrid>
          </Section>
        </SimpleGrid>
        <Section
          title="Database"
          description={`PostgreSQL ${database.version}, ${bytesInWords(database.size_bytes)} in total. Largest tables:`}
        >
          <DataTable
            caption="Largest tables"
            rows={database.largest_tables}
            rowKey={({ name }) => name}
            columns={[
              {
                header: 'Table',
                sortBy: 'table',
                sortValue: ({ name }) => name,
                cell: ({ name }) => <Text size="sm">{name}</Text>,
              },
              {
                header: 'Size',
                align: 'right',
                sortBy: 'size',
                sortValue: ({ size_bytes }) => size_bytes,
                cell: ({ size_bytes }) => bytesInWords(size_bytes),
              },
              {
                header: 'Rows (estimate)',
                align: 'right',
                sortBy: 'rows',
                sortValue: ({ rows }) => rows,
                cell: ({ rows }) => formatCount(rows),
              },
            ]}
          />
        </Section>
      </Stack>
    </>
  )
}

function todosOf(overview: OperatorOverview): Todo[] {
  const { agents, freshness, not_current, removals_held, companies_not_verified: unverified } = overview
  const link = (to: '/operator/agents' | '/operator/jobs', words: string) => (
    <ButtonLink size="xs" variant="default" to={to}>
      {words}
    </ButtonLink>
  )
  const behind = freshness.disconnected + freshness.stale
  const linksTo = (...states: FreshnessState[]) =>
    not_current
      .filter(({ state }) => states.includes(state))
      .map(({ location_id, name, organization_name }) => (
        <li key={location_id}>
          <PageLink size="sm" to="/operator/locations/$location_id" params={{ location_id }}>
            {organization_name}: {name}
          </PageLink>
        </li>
      ))
  return [
    ...(unverified > 0 && overview.environment === 'production'
      ? [
          {
            icon: IconShieldCheck,
            title:
              unverified === 1 ? 'A company waits for verification' : `${unverified} companies wait for verification`,
            text: 'Practices do not find a company before an operator has verified it.',
            action: (
              <ButtonLink size="xs" to="/operator/companies" search={{ verified: 'no', state: 'active' }}>
                Review companies
              </ButtonLink>
            ),
          },
        ]
      : []),
    ...(agents.silent > 0
      ? [
          {
            icon: IconDeviceDesktop,
            title: agents.silent === 1 ? 'An agent is not reporting' : `${agents.silent} agents are not reporting`,
            text: 'The last contact was more than 3 minutes ago.',
            action: link('/operator/agents', 'View agents'),
          },
        ]
      : []),
    ...(behind > 0
      ? [
          {
            icon: IconAlertTriangle,
            title: behind === 1 ? 'A location is not current' : `${behind} locations are not current`,
            text: `${freshness.disconnected} without a connected agent, ${freshness.stale} not read in time.`,
            action: link('/operator/agents', 'View agents'),
            about: linksTo('disconnected', 'stale'),
          },
        ]
      : []),
    ...(freshness.pending > 0
      ? [
          {
            icon: IconClock,
            title:
              freshness.pending === 1
                ? 'The first sync of a location has not finished'
                : `The first sync of ${freshness.pending} locations has not finished`,
            text: 'Their agents are still reading, or cannot read the practice management system.',
            action: link('/operator/agents', 'View agents'),
            about: linksTo('pending'),
          },
        ]
      : []),
    ...(removals_held > 0
      ? [
          {
            icon: IconTrash,
            title: removals_held === 1 ? 'A removal is held' : `${removals_held} removals are held`,
            text: 'Each waits for a decision of its practice.',
            action: link('/operator/jobs', 'View jobs'),
          },
        ]
      : []),
  ]
}
