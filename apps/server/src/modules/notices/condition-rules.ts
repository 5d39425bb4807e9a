import type { Action, NoticeKind } from '@bridgework/contract/portal'

/** What the checks can find. */
export const conditionEvents = [
  'agreement_to_accept',
  'keys_stop_soon',
  'keys_stopped',
  'requests_unauthorized',
  'requests_throttled',
  'webhook_failing',
  'webhook_failing_long',
  'webhook_stopped',
  'removal_held',
  'agent_enrolled',
  'agent_refused',
  'agent_silent',
  'agent_problem',
  'agent_behind',
  'dataset_stale',
  'location_silent',
  'location_stale',
  'location_removal_held',
  'location_closed',
  'sign_ins_refused',
  'backlog',
  'disk_full',
  'disclosures_failing',
  'postgres_outdated',
] as const
export type ConditionEvent = (typeof conditionEvents)[number]

/** `guides`: the address below which the guides are. */
type Words = (about: string, guides: string) => { title: string; body: string }

export type ConditionRule = {
  kind: NoticeKind
  to: Action
  /** Below the pages of the tenant. */
  path: string
  /** `about`: all that it began for, in words. */
  begins: Words
  /** Null: that it ends is no news. */
  ends: Words | null
  /** Each is told when it is found, within seconds and however short ago another was: somebody may have come in. */
  isUrgent?: true
  /** The items of the findings are members, who are notified too. */
  isAboutMember?: true
  /**
   * The items are locations that a company may read: nothing is told of one that it may not read any more, nor, with `open`, of one that is closed.
   */
  readable?: 'open' | 'any'
}

/** Of locations of practices, to the people of a company: who they are, and their page of what the company may read. */
const ofReadable = { kind: 'readable', to: 'company.update', path: '/connections' } as const

const isCurrentAgain: Words = (about) => ({
  title: 'Data of a location is current again',
  body: `Read to the end: ${about}. Your next delta has every change since your last one.`,
})

/** The address is not the end of the sentence, so that no mail program takes the full stop for a part of it. */
const whatToDo = (guide: string) => `See ${guide} for what to do.`

/** Which notices each condition causes. One that is missing here does not compile. */
export const conditionRules: Record<ConditionEvent, ConditionRule> = {
  agreement_to_accept: {
    kind: 'agreement',
    to: 'company.update',
    path: '/agreement',
    begins: (about) => ({
      title: 'A new version of the agreement',
      body: `${about}. The owner of your company accepts it in the portal. Your keys stop working on that day if it is not accepted.`,
    }),
    ends: null,
  },
  keys_stop_soon: {
    kind: 'agreement',
    to: 'company.update',
    path: '/agreement',
    begins: (about) => ({
      title: 'Your API keys stop working soon',
      body: `${about}. It is not accepted yet. Ask the owner of your company to accept it in the portal.`,
    }),
    ends: null,
  },
  keys_stopped: {
    kind: 'agreement',
    to: 'company.update',
    path: '/agreement',
    begins: (about) => ({
      title: 'Your API keys have stopped working',
      body: `${about}. They work again as soon as the owner of your company accepts it in the portal.`,
    }),
    ends: null,
  },
  requests_unauthorized: {
    kind: 'requests',
    to: 'key_pair.read',
    path: '/logs',
    begins: (about) => ({
      title: 'Many of your requests are not authenticated',
      body: `${about} were answered 401. Check that your software gets a new token before the old one expires, and that its key pair is the live one.`,
    }),
    ends: () => ({
      title: 'Your requests are authenticated again',
      body: 'There were no more than a few answers 401 within the last half hour.',
    }),
  },
  requests_throttled: {
    kind: 'requests',
    to: 'key_pair.read',
    path: '/logs',
    begins: (about) => ({
      title: 'Many of your requests are throttled',
      body: `${about} were answered 429. Sync fewer locations at the same time, and wait as long as the Retry-After header says.`,
    }),
    ends: () => ({
      title: 'Your requests are no longer throttled',
      body: 'There were no more than a few answers 429 within the last half hour.',
    }),
  },
  webhook_failing: {
    kind: 'webhooks',
    to: 'webhook.read',
    path: '/webhooks',
    begins: (about) => ({
      title: 'A webhook fails',
      body: `Your server did not take a message: ${about}. Bridgework tries again. The page of webhooks has what your server answered.`,
    }),
    ends: (about) => ({
      title: 'A webhook is no longer failing',
      body: `It takes messages, or was stopped: ${about}.`,
    }),
  },
  webhook_failing_long: {
    kind: 'webhooks',
    to: 'webhook.read',
    path: '/webhooks',
    begins: (about) => ({
      title: 'A webhook has failed for a day',
      body: `Your server has taken no message for a day: ${about}. After five days Bridgework stops sending.`,
    }),
    ends: null,
  },
  webhook_stopped: {
    kind: 'webhooks',
    to: 'webhook.read',
    path: '/webhooks',
    begins: (about) => ({
      title: 'A webhook was stopped',
      body: `Nothing more is sent: ${about}. Resume it on the page of webhooks, and you get what changed meanwhile.`,
    }),
    ends: null,
  },
  removal_held: {
    kind: 'removals',
    to: 'removal.decide',
    path: '/removals',
    begins: (about) => ({
      title: 'A removal is held',
      body: `More records than usual are missing from the practice management system: ${about}. Vendors see them until you decide. Review the removal, then confirm or reject it.`,
    }),
    ends: null,
  },
  agent_enrolled: {
    kind: 'agents',
    to: 'agent.enroll',
    path: '/agents',
    begins: (about) => ({
      title: 'An agent was enrolled',
      body: `${about} can now send data of your practice. If you do not expect that, revoke its key on the page of agents.`,
    }),
    ends: null,
    isUrgent: true,
  },
  agent_refused: {
    kind: 'agents',
    to: 'agent.enroll',
    path: '/agents',
    begins: (about) => ({
      title: 'A second agent was refused',
      body: `${about} wanted to send data where another agent of your practice sends it. If you moved the agent to another computer, let the new one go on, on the page of agents. If you do not expect it, revoke its key there.`,
    }),
    ends: null,
    isUrgent: true,
  },
  agent_silent: {
    kind: 'agents',
    to: 'agent.enroll',
    path: '/agents',
    begins: (about) => ({
      title: 'An agent is silent',
      body: `Not heard for an hour of your office hours: ${about}. Check that its computer is on and connected to the internet.`,
    }),
    ends: (about) => ({ title: 'An agent is connected again', body: `Heard again: ${about}.` }),
  },
  agent_problem: {
    kind: 'agents',
    to: 'agent.enroll',
    path: '/agents',
    begins: (about) => ({ title: 'An agent reports a problem', body: `${about}.` }),
    // What was told includes what to do, which is no longer true of what is over.
    ends: () => ({
      title: 'A problem of an agent is over',
      body: 'The agent no longer reports it. The page of agents shows what is still wrong, if anything is.',
    }),
  },
  agent_behind: {
    kind: 'agents',
    to: 'agent.enroll',
    path: '/locations',
    begins: (about) => ({
      title: 'A first read is not finished',
      body: `The agent is connected, but has not read everything once within a day: ${about}. Vendors get these datasets when it has. Check the agent’s log.`,
    }),
    ends: (about) => ({ title: 'The first read is finished', body: `Read to the end: ${about}.` }),
  },
  dataset_stale: {
    kind: 'datasets',
    to: 'agent.enroll',
    path: '/locations',
    begins: (about) => ({
      title: 'Data is not current',
      body: `The agent is connected, but did not read to the end for an hour of your office hours: ${about}. Check that the practice management system’s database can be read.`,
    }),
    ends: (about) => ({ title: 'Data is current again', body: `Read to the end: ${about}.` }),
  },
  location_silent: {
    ...ofReadable,
    readable: 'open',
    begins: (about, guides) => ({
      title: 'A location is silent',
      body: `Its agent was not heard, and nothing was read, for an hour of office hours: ${about}. Nothing is lost: keep what you have, show its age, and ask for deltas as before. They have every change once the agent is back. ${whatToDo(`${guides}/freshness`)}`,
    }),
    ends: isCurrentAgain,
  },
  location_stale: {
    ...ofReadable,
    readable: 'open',
    begins: (about, guides) => ({
      title: 'Data of a location is not current',
      body: `The agent is connected, but did not read to the end for an hour of office hours: ${about}. Nothing is lost: keep what you have, show its age, and ask for deltas as before. They have every change once it is read. ${whatToDo(`${guides}/freshness`)}`,
    }),
    ends: isCurrentAgain,
  },
  location_removal_held: {
    ...ofReadable,
    readable: 'any',
    begins: (about, guides) => ({
      title: 'A removal waits for the practice',
      body: `More records than usual are missing from the practice management system: ${about}. They stay visible until the practice decides, and your deltas then have those that it confirms as removed. Nothing is lost, and you need not read anything again. ${whatToDo(`${guides}/handling-removals`)}`,
    }),
    ends: (about) => ({
      title: 'A removal no longer waits for the practice',
      body: `No longer held: ${about}. Your next delta has the records that were removed, if any.`,
    }),
  },
  location_closed: {
    ...ofReadable,
    readable: 'any',
    begins: (about, guides) => ({
      title: 'A location is closed',
      body: `The practice closed it: ${about}. You may still read it. Nothing is lost, but nothing new is read there: leave it out when you add up locations. ${whatToDo(`${guides}/handling-removals`)}`,
    }),
    ends: (about) => ({
      title: 'A location is open again',
      body: `Open: ${about}. Your next delta has what changed.`,
    }),
  },
  sign_ins_refused: {
    kind: 'security',
    to: 'member_session.read',
    path: '/members',
    begins: (about) => ({
      title: 'Many refused sign-ins',
      body: `Ten or more passwords were refused within an hour at the account of ${about}. If the person did not try, somebody else did: a long password that is used nowhere else and a second factor keep the account safe.`,
    }),
    ends: null,
    isAboutMember: true,
  },
  backlog: {
    kind: 'service',
    to: 'operator.read',
    path: '/jobs',
    begins: (about) => ({ title: 'Work waits too long', body: `For more than half an hour: ${about}.` }),
    ends: (about) => ({ title: 'Work no longer waits', body: `Done: ${about}.` }),
  },
  disk_full: {
    kind: 'service',
    to: 'operator.read',
    path: '',
    begins: (about) => ({
      title: 'A disk is almost full',
      body: `${about}. Make room: without it the database stops.`,
    }),
    ends: () => ({ title: 'The disk has room again', body: 'More than a tenth of it is free.' }),
  },
  disclosures_failing: {
    kind: 'service',
    to: 'operator.read',
    path: '',
    begins: (about) => ({
      title: 'Disclosures cannot be recorded',
      body: `${about}. Vendors get 503 for what cannot be recorded, and no data. Check the database.`,
    }),
    ends: () => ({ title: 'Disclosures are recorded again', body: 'None failed within the last half hour.' }),
  },
  postgres_outdated: {
    kind: 'service',
    to: 'operator.read',
    path: '',
    begins: (about) => ({ title: 'PostgreSQL is out of date', body: `${about}. Update the database server.` }),
    ends: () => ({ title: 'PostgreSQL is up to date', body: 'The database server was updated.' }),
  },
}
