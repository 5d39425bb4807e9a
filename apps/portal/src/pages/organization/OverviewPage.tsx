import type { OrganizationPage } from '@bridgework/contract/portal'
import { Group, SimpleGrid, Stack, Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconDeviceDesktop,
  IconMapPin,
  IconShieldCheck,
  IconTrash,
} from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { read } from '../../api/query.ts'
import { ButtonLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { StatCard } from '../../ui/StatCard.tsx'
import { type Matter, Matters } from './Matters.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/')

/** What a practice should look at today, and how it stands. */
export function OverviewPage() {
  const params = route.useParams()
  const { data: organization } = useSuspenseQuery(read('getOrganization', { params }, { everyMs: 30_000 }))
  const { agents, locations, vendors, locations_by_state: states } = organization
  return (
    <>
      <PageHeader title={organization.name} documentTitle="Overview" description="How your practice’s data stands." />
      <Stack>
        <SimpleGrid cols={{ base: 2, lg: 4 }}>
          <StatCard
            label="Locations"
            value={locations}
            hint={locations === 0 ? 'none found yet' : `${states.current} current`}
          />
          <StatCard label="Agents connected" value={`${agents.connected} of ${agents.living}`} />
          <StatCard label="Vendors with access" value={vendors} />
          <StatCard label="Removals that wait" value={organization.removals} />
        </SimpleGrid>
        <Section title="What needs you">
          <Matters
            matters={mattersOf(organization, params)}
            otherwise={
              <Group gap="xs">
                <IconCircleCheck size={18} aria-hidden color="var(--mantine-color-teal-text)" />
                <Text size="sm">Nothing. Your agents report and every location is current.</Text>
              </Group>
            }
          />
        </Section>
      </Stack>
    </>
  )
}

/** The most pressing first; a new practice is led through its first steps. */
function mattersOf(
  { agents, locations, vendors, removals, locations_by_state }: OrganizationPage,
  params: Params,
): Matter[] {
  const { disconnected, stale } = locations_by_state
  const matters: Matter[] = []
  const add = (icon: Matter['icon'], title: string, text: string, action: ReactNode) =>
    matters.push({ icon, title, text, action })
  if (removals > 0) {
    add(
      IconTrash,
      removals === 1 ? 'A removal waits for you' : `${removals} removals wait for you`,
      'A large part of a dataset is gone from your system. Say whether vendors shall see it as removed.',
      <ButtonLink size="xs" to="/organization/$organization_id/removals" params={params}>
        Look at removals
      </ButtonLink>,
    )
  }
  if (agents.living === 0) {
    add(
      IconDeviceDesktop,
      'Connect your office',
      'Install an agent on a machine that reaches your practice management system’s database.',
      <ButtonLink size="xs" to="/organization/$organization_id/agents" params={params}>
        Enrol an agent
      </ButtonLink>,
    )
  } else if (agents.connected < agents.living) {
    const silent = agents.living - agents.connected
    add(
      IconDeviceDesktop,
      silent === 1 ? 'An agent is silent' : `${silent} agents are silent`,
      'Look whether the machine is on and reaches the internet. The agent goes on by itself where it stopped.',
      <ButtonLink size="xs" variant="default" to="/organization/$organization_id/agents" params={params}>
        Look at agents
      </ButtonLink>,
    )
  }
  if (disconnected + stale > 0) {
    const behind = disconnected + stale
    add(
      IconAlertTriangle,
      behind === 1 ? 'The data of a location is behind' : `The data of ${behind} locations is behind`,
      'Vendors go on reading what we have; they are told that it is not current.',
      <ButtonLink size="xs" variant="default" to="/organization/$organization_id/locations" params={params}>
        Look at locations
      </ButtonLink>,
    )
  }
  if (locations === 0 && agents.living > 0) {
    add(
      IconMapPin,
      'No location was found yet',
      'Locations appear when the agent has read your system for the first time. That takes a few minutes.',
      null,
    )
  }
  if (vendors === 0 && locations > 0) {
    add(
      IconShieldCheck,
      'Let a vendor in',
      'Nobody reads anything of yours yet. Choose a vendor, and what it may read where.',
      <ButtonLink size="xs" variant="default" to="/organization/$organization_id/vendors" params={params}>
        Find a vendor
      </ButtonLink>,
    )
  }
  return matters
}

type Params = { organization_id: string }
