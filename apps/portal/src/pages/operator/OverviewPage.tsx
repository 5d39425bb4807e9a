import type { OperatorOverview } from '@bridgework/contract/portal'
import { Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconDeviceDesktop, IconTrash } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { DataTable } from '../../ui/DataTable.tsx'
import { ButtonLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { StatCard } from '../../ui/StatCard.tsx'
import { When } from '../../ui/When.tsx'
import { type Matter, Matters } from '../organization/Matters.tsx'
import { bytesInWords } from './bytes.ts'

/** The installation at a glance; follows by itself. */
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
            This page follows by itself.
          </>
        }
      />
      <Stack>
        <Section title="What needs you">
          <Matters
            matters={mattersOf(overview)}
            otherwise={
              <Group gap="xs">
                <IconCircleCheck size={18} aria-hidden color="var(--mantine-color-teal-text)" />
                <Text size="sm">Nothing. Agents report and locations are current.</Text>
              </Group>
            }
          />
        </Section>
        <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
          <StatCard label="Companies" value={counts.companies.toLocaleString()} />
          <StatCard label="Organizations" value={counts.organizations.toLocaleString()} />
          <StatCard label="Locations" value={counts.locations.toLocaleString()} />
          <StatCard label="Records" value={counts.records.toLocaleString()} />
          <StatCard label="Disclosures" value={counts.disclosures.toLocaleString()} />
          <StatCard label="Agents" value={counts.agents.toLocaleString()} />
        </SimpleGrid>
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Section title="Agents" description="Connected: heard within the last 3 minutes.">
            <SimpleGrid cols={3}>
              <StatCard label="Connected" value={agents.connected} />
              <StatCard label="Silent" value={agents.silent} />
              <StatCard label="Never heard" value={agents.never_heard} />
            </SimpleGrid>
          </Section>
          <Section title="Freshness" description="Locations, by the dataset that is furthest behind.">
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
          description={`PostgreSQL ${database.version}, ${bytesInWords(database.size_bytes)} in all. The largest tables:`}
        >
          <DataTable
            caption="Largest tables"
            rows={database.largest_tables}
            rowKey={({ name }) => name}
            columns={[
              { header: 'Table', cell: ({ name }) => <Text size="sm">{name}</Text> },
              { header: 'Size', align: 'right', cell: ({ size_bytes }) => bytesInWords(size_bytes) },
              { header: 'Rows, about', align: 'right', cell: ({ rows }) => rows.toLocaleString() },
            ]}
          />
        </Section>
      </Stack>
    </>
  )
}

function mattersOf({ agents, freshness, removals_held }: OperatorOverview): Matter[] {
  const look = (to: '/operator/agents' | '/operator/jobs', words: string) => (
    <ButtonLink size="xs" variant="default" to={to}>
      {words}
    </ButtonLink>
  )
  const behind = freshness.disconnected + freshness.stale
  return [
    ...(agents.silent > 0
      ? [
          {
            icon: IconDeviceDesktop,
            title: agents.silent === 1 ? 'An agent is silent' : `${agents.silent} agents are silent`,
            text: 'Nothing was heard of them for more than 3 minutes.',
            action: look('/operator/agents', 'Look at agents'),
          },
        ]
      : []),
    ...(behind > 0
      ? [
          {
            icon: IconAlertTriangle,
            title: behind === 1 ? 'A location is behind' : `${behind} locations are behind`,
            text: `${freshness.disconnected} without an agent, ${freshness.stale} not read in time.`,
            action: look('/operator/agents', 'Look at agents'),
          },
        ]
      : []),
    ...(removals_held > 0
      ? [
          {
            icon: IconTrash,
            title: removals_held === 1 ? 'A removal is held' : `${removals_held} removals are held`,
            text: 'Each waits for somebody of its practice.',
            action: look('/operator/jobs', 'Look at jobs'),
          },
        ]
      : []),
  ]
}
