import type { FreshnessState } from '@bridgework/contract'
import type { OrganizationPage } from '@bridgework/contract/portal'
import { Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconClock,
  IconDeviceDesktop,
  IconMapPin,
  IconShieldCheck,
  IconTrash,
} from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { read, useAct } from '../../api/query.ts'
import { useMay } from '../../api/session.ts'
import { FirstSteps } from '../../ui/FirstSteps.tsx'
import { ButtonLink, PageLink } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Section } from '../../ui/Section.tsx'
import { StatCard } from '../../ui/StatCard.tsx'
import { stepsOf } from './first-steps.ts'
import { type Todo, TodoList } from './TodoList.tsx'

const route = getRouteApi('/signed-in/organization/$organization_id/')

/** What a practice should do now, and its counts. */
export function OverviewPage() {
  const params = route.useParams()
  const { data: organization } = useSuspenseQuery(read('getOrganization', { params }, { everyMs: 30_000 }))
  const { agents, locations, vendors, locations_by_state: states } = organization
  const may = useMay(params.organization_id)
  const dismiss = useAct('dismissFirstSteps')
  const steps = stepsOf(organization).map(({ to, link, ...step }) => ({
    ...step,
    action: (
      <ButtonLink size="sm" to={to} params={params}>
        {link}
      </ButtonLink>
    ),
  }))
  return (
    <>
      <PageHeader
        title={organization.name}
        documentTitle="Overview"
        description="The locations, agents and vendors of your practice."
      />
      <Stack>
        <SimpleGrid cols={{ base: 2, lg: 4 }}>
          <StatCard
            label="Locations"
            value={locations}
            hint={locations === 0 ? 'none found yet' : `${states.current} current`}
          />
          <StatCard label="Agents connected" value={`${agents.connected} of ${agents.living}`} />
          <StatCard label="Vendors with access" value={vendors} />
          <StatCard label="Removals to review" value={organization.removals} />
        </SimpleGrid>
        {steps.length > 0 && (
          <FirstSteps
            steps={steps}
            actions={
              may('organization.update') && (
                <Button
                  variant="default"
                  size="xs"
                  loading={dismiss.isPending}
                  onClick={() => dismiss.mutate({ params })}
                >
                  Dismiss first steps
                </Button>
              )
            }
          />
        )}
        <Section title="Needs attention">
          <TodoList
            todos={todosOf(organization, params)}
            whenEmpty={
              <Group gap="xs">
                <IconCircleCheck size={18} aria-hidden color="var(--mantine-color-teal-text)" />
                <Text size="sm">Nothing to do. All agents are connected, and all locations are current.</Text>
              </Group>
            }
          />
        </Section>
      </Stack>
    </>
  )
}

/** The most urgent first; for a new practice, its first steps. */
function todosOf(
  {
    agents,
    locations,
    vendors,
    removals,
    locations_by_state,
    locations_not_current,
    locations_with_two_agents: contested,
    agents_with_copies: copied,
    renamed_vendors,
    access_requests: requests,
  }: OrganizationPage,
  params: Params,
): Todo[] {
  const { disconnected, stale, pending } = locations_by_state
  const todos: Todo[] = []
  const add = (icon: Todo['icon'], title: string, text: string, action: ReactNode, about?: readonly ReactNode[]) =>
    todos.push({ icon, title, text, action, ...(about && { about }) })
  const linksTo = (...states: FreshnessState[]) =>
    locations_not_current
      .filter(({ state }) => states.includes(state))
      .map(({ id, name }) => (
        <li key={id}>
          <PageLink
            size="sm"
            to="/organization/$organization_id/locations/$location_id"
            params={{ ...params, location_id: id }}
          >
            {name}
          </PageLink>
        </li>
      ))
  if (removals > 0) {
    add(
      IconTrash,
      removals === 1 ? 'A removal needs your review' : `${removals} removals need your review`,
      'A large part of a dataset is missing from your system. Decide whether vendors see it as removed.',
      <ButtonLink size="xs" to="/organization/$organization_id/removals" params={params}>
        Review removals
      </ButtonLink>,
    )
  }
  if (requests.length > 0) {
    add(
      IconShieldCheck,
      requests.length === 1 ? 'A vendor asks for access' : `${requests.length} vendors ask for access`,
      'Grant what it asks for, grant less, or decline.',
      <ButtonLink size="xs" to="/organization/$organization_id/vendors" params={params}>
        Review requests
      </ButtonLink>,
      requests.map(({ company_id, company_name }) => (
        <li key={company_id}>
          <PageLink
            size="sm"
            to="/organization/$organization_id/vendors/$company_id"
            params={{ ...params, company_id }}
          >
            {company_name}
          </PageLink>
        </li>
      )),
    )
  }
  if (contested > 0) {
    add(
      IconDeviceDesktop,
      contested === 1 ? 'Two agents read one location' : `Two agents read ${contested} locations`,
      'Only one of them may write. Open the location and decide which one.',
      <ButtonLink size="xs" to="/organization/$organization_id/locations" params={params}>
        View locations
      </ButtonLink>,
    )
  }
  if (copied > 0) {
    add(
      IconDeviceDesktop,
      copied === 1 ? 'Two copies of one agent are in use' : `Two copies of ${copied} agents are in use`,
      'Only one of them may send. Decide which one.',
      <ButtonLink size="xs" to="/organization/$organization_id/agents" params={params}>
        View agents
      </ButtonLink>,
    )
  }
  if (agents.living === 0) {
    add(
      IconDeviceDesktop,
      'Connect an agent',
      'Install an agent on a machine that can reach the database of your practice management system.',
      <ButtonLink size="xs" to="/organization/$organization_id/agents" params={params}>
        Enroll an agent
      </ButtonLink>,
    )
  } else if (agents.missed > 0) {
    const silent = agents.missed
    add(
      IconDeviceDesktop,
      silent === 1 ? 'An agent is not reporting' : `${silent} agents are not reporting`,
      'Check that its machine is on and can reach the internet. The agent then continues where it stopped.',
      <ButtonLink size="xs" variant="default" to="/organization/$organization_id/agents" params={params}>
        View agents
      </ButtonLink>,
    )
  }
  if (disconnected + stale > 0) {
    const behind = disconnected + stale
    add(
      IconAlertTriangle,
      behind === 1 ? 'The data of a location is not current' : `The data of ${behind} locations is not current`,
      'Vendors can still read our last copy, which is marked as not current.',
      <ButtonLink size="xs" variant="default" to="/organization/$organization_id/locations" params={params}>
        View locations
      </ButtonLink>,
      linksTo('disconnected', 'stale'),
    )
  }
  if (pending > 0) {
    add(
      IconClock,
      pending === 1
        ? 'The first sync of a location has not finished'
        : `The first sync of ${pending} locations has not finished`,
      'Vendors can read the records that have arrived. The page of the location shows which datasets are missing.',
      <ButtonLink size="xs" variant="default" to="/organization/$organization_id/locations" params={params}>
        View locations
      </ButtonLink>,
      linksTo('pending'),
    )
  }
  if (locations === 0 && agents.living > 0) {
    add(
      IconMapPin,
      'No locations yet',
      'Locations appear after the agent has read your system for the first time. This takes a few minutes.',
      null,
    )
  }
  if (renamed_vendors.length > 0) {
    add(
      IconShieldCheck,
      renamed_vendors.length === 1 ? 'A vendor has another name' : `${renamed_vendors.length} vendors have other names`,
      'Its access did not change. Check that you still know who it is.',
      null,
      renamed_vendors.map(({ company_id, name, former_name, used_until }) => (
        <li key={used_until}>
          <PageLink
            size="sm"
            to="/organization/$organization_id/vendors/$company_id"
            params={{ ...params, company_id }}
          >
            {name}, until {new Date(used_until).toLocaleDateString('en-US', { dateStyle: 'medium' })} “{former_name}”
          </PageLink>
        </li>
      )),
    )
  }
  if (vendors === 0 && locations > 0) {
    add(
      IconShieldCheck,
      'Grant a vendor access',
      'No vendor has access yet. Choose a vendor, locations and datasets.',
      <ButtonLink size="xs" variant="default" to="/organization/$organization_id/vendors" params={params}>
        Find a vendor
      </ButtonLink>,
    )
  }
  return todos
}

type Params = { organization_id: string }
