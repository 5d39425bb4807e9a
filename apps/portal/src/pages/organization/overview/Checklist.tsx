import type { FreshnessState } from '@bridgework/contract'
import type { OrganizationPage } from '@bridgework/contract/portal'
import { Button, Group, Stack, Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleDashed,
  IconDeviceDesktop,
  IconMail,
  IconMapPin,
  IconShieldCheck,
  IconTrash,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { CopyButton } from '../../../ui/Copy.tsx'
import { ButtonLink, PageLink } from '../../../ui/links.tsx'
import { Section } from '../../../ui/Section.tsx'
import { When } from '../../../ui/When.tsx'
import { type Todo, TodoList } from '../TodoList.tsx'
import { stepsOf } from './first-steps.ts'
import { itStepsText, mailtoOf } from './it-steps.ts'

/** What a person should do, the most urgent first, and then the first steps that are left; what is for the IT person can be sent. */
export function Checklist({ organization }: { organization: OrganizationPage }) {
  const { id: organization_id } = organization
  const params = { organization_id }
  const may = useMay(organization_id)
  const dismiss = useAct('dismissFirstSteps')
  const steps = stepsOf(organization)
  const done = steps.filter(({ isDone }) => isDone)
  const todos = [
    ...todosOf(organization, params),
    ...steps
      .filter(({ isDone }) => !isDone)
      .map(
        ({ title, text, to, link, isForIt }): Todo => ({
          icon: IconCircleDashed,
          title,
          text,
          isForIt,
          action: (
            <ButtonLink size="xs" variant="default" to={to} params={params}>
              {link}
            </ButtonLink>
          ),
        }),
      ),
  ]
  const forIt = todos.filter(({ isForIt }) => isForIt)
  const text = itStepsText(forIt, {
    practice: organization.name,
    organizationId: organization_id,
    origin: location.origin,
  })
  return (
    <Section
      title="Checklist"
      {...(steps.length > 0 && { description: `${done.length} of ${steps.length} first steps done` })}
      actions={
        steps.length > 0 &&
        may('organization.update') && (
          <Button variant="default" size="xs" loading={dismiss.isPending} onClick={() => dismiss.mutate({ params })}>
            Dismiss first steps
          </Button>
        )
      }
    >
      <TodoList
        todos={todos}
        whenEmpty={
          <Group gap="xs" wrap="nowrap">
            <IconCircleCheck size={18} aria-hidden color="var(--mantine-color-teal-text)" style={{ flexShrink: 0 }} />
            <Text size="sm">Nothing to do. All agents are connected, and all locations are current.</Text>
          </Group>
        }
      />
      {forIt.length > 0 && (
        <Stack gap="xs">
          <Text size="sm">
            {forIt.length === 1 ? 'One of these is' : `${forIt.length} of these are`} for the person who looks after
            your computers.
          </Text>
          <Group gap="sm">
            <Button
              component="a"
              variant="default"
              size="xs"
              href={mailtoOf('Steps for Bridgework', text)}
              leftSection={<IconMail size={14} aria-hidden />}
            >
              Send these steps to my IT person
            </Button>
            <CopyButton value={text} what="the steps" label="Copy the steps" />
          </Group>
        </Stack>
      )}
      {done.length > 0 && (
        <Text size="sm" c="dimmed">
          Done: {done.map(({ title }) => title).join(', ')}.
        </Text>
      )}
    </Section>
  )
}

/** What needs attention, the most urgent first. What the first steps say is left to them. */
function todosOf(
  {
    agents,
    locations,
    removals,
    locations_by_state,
    locations_not_current,
    locations_with_two_agents: contested,
    agents_with_copies: copied,
    agent_problems,
    renamed_vendors,
    access_requests: requests,
    first_steps_dismissed_at: dismissedAt,
  }: OrganizationPage,
  params: Params,
): Todo[] {
  const { disconnected, stale } = locations_by_state
  const todos: Todo[] = []
  type More = Pick<Todo, 'id' | 'about' | 'isForIt'>
  const add = (icon: Todo['icon'], title: string, text: string, action: ReactNode, more: More = {}) =>
    todos.push({ icon, title, text, action, ...more })
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
      {
        about: requests.map(({ company_id, company_name }) => (
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
      },
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
  for (const { agent_id, name, problems } of agent_problems) {
    for (const { what, todo, since, datasets, locations: places } of problems) {
      add(
        IconAlertTriangle,
        what,
        todo,
        <ButtonLink size="xs" variant="default" to="/organization/$organization_id/agents" params={params}>
          View agents
        </ButtonLink>,
        {
          id: `${agent_id} ${what}`,
          isForIt: true,
          about: [
            <Text component="li" size="xs" c="dimmed" key={`${agent_id} ${what}`}>
              Agent <bdi>{name}</bdi>, began <When at={since} />
              {datasets.length > 0 && `, of ${datasets.join(', ')}`}
              {places.length > 0 && `, at ${places.join(', ')}`}
            </Text>,
          ],
        },
      )
    }
  }
  if (agents.living === 0 && dismissedAt !== null) {
    add(
      IconDeviceDesktop,
      'Connect an agent',
      'Install an agent on a machine that can reach the database of your practice management system.',
      <ButtonLink size="xs" to="/organization/$organization_id/agents" params={params}>
        Enroll an agent
      </ButtonLink>,
      { isForIt: true },
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
      { isForIt: true },
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
      { about: linksTo('disconnected', 'stale') },
    )
  }
  if (locations === 0 && agents.living > 0 && dismissedAt !== null) {
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
      {
        about: renamed_vendors.map(({ company_id, name, former_name, used_until }) => (
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
      },
    )
  }
  return todos
}

type Params = { organization_id: string }
