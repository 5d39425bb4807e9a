import type { OrganizationPage } from '@bridgework/contract/portal'

export type Step = {
  title: string
  text: string
  isDone: boolean
  to:
    | '/organization/$organization_id/settings'
    | '/organization/$organization_id/agents'
    | '/organization/$organization_id/locations'
    | '/organization/$organization_id/members'
    | '/organization/$organization_id/vendors'
  link: string
  /** The person who looks after the office's computers does it. */
  isForIt?: boolean
}

/** The steps of a new practice, in order, and which of them this one has done. Empty when all are done, or the list was dismissed. */
export function stepsOf({
  agents,
  locations_by_state: { current, stale, disconnected },
  members,
  vendors,
  first_steps_dismissed_at,
  time_zone,
}: Pick<
  OrganizationPage,
  'time_zone' | 'agents' | 'locations_by_state' | 'members' | 'vendors' | 'first_steps_dismissed_at'
>): Step[] {
  const steps: Step[] = [
    {
      title: 'Set your time zone',
      text: 'Access that you grant until a day ends at midnight there, and disclosures are counted by its days.',
      isDone: time_zone !== null,
      to: '/organization/$organization_id/settings',
      link: 'Go to settings',
    },
    {
      title: 'Enroll an agent',
      text: 'It runs on a machine that can reach your practice management system, and copies its data to Bridgework.',
      isDone: agents.living > 0,
      to: '/organization/$organization_id/agents',
      link: 'Go to agents',
      isForIt: true,
    },
    {
      title: 'Wait for the first sync',
      text: 'Your locations appear a few minutes after the agent was installed. This is done when one of them is complete.',
      isDone: current + stale + disconnected > 0,
      to: '/organization/$organization_id/locations',
      link: 'View locations',
    },
    {
      title: 'Invite a colleague',
      text: 'A second person can grant and revoke access when you are away.',
      isDone: members > 1,
      to: '/organization/$organization_id/members',
      link: 'Go to members',
    },
    {
      title: 'Grant a vendor access',
      text: 'Choose a vendor, and the locations and datasets that it may read.',
      isDone: vendors > 0,
      to: '/organization/$organization_id/vendors',
      link: 'Find a vendor',
    },
  ]
  return first_steps_dismissed_at !== null || steps.every(({ isDone }) => isDone) ? [] : steps
}
