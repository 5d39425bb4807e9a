import type { CompanyPage } from '@bridgework/contract/portal'

export type Step = {
  title: string
  text: string
  isDone: boolean
  to:
    | '/company/$company_id/agreement'
    | '/company/$company_id/keys'
    | '/company/$company_id/quickstart'
    | '/company/$company_id/connections'
  link: string
}

/** The steps of a new vendor to its first record, in order, and which of them this one has done. */
export function stepsOf(company: Pick<CompanyPage, 'agreement' | 'key_pair' | 'connections' | 'owner'>): Step[] {
  const { agreement, key_pair, connections, owner } = company
  return [
    {
      title: 'Accept the developer API agreement',
      text: `It says what you may do with the data. Only the owner, ${owner.name}, can accept it.`,
      isDone: agreement.is_in_force,
      to: '/company/$company_id/agreement',
      link: 'Read the agreement',
    },
    {
      title: 'Generate a key pair',
      text: 'Your software authenticates with it. The secret is shown once.',
      isDone: key_pair !== null,
      to: '/company/$company_id/keys',
      link: 'Go to API keys',
    },
    {
      title: 'Make the first call',
      text: 'Copy a snippet with your client id, or send the request from the page.',
      isDone: key_pair !== null && key_pair.last_used_at !== null,
      to: '/company/$company_id/quickstart',
      link: 'Open the quickstart',
    },
    {
      title: 'Get access from a practice',
      text: 'A practice grants your company access to locations and datasets in the portal. In the sandbox, a demo practice does.',
      isDone: connections.organizations > 0,
      to: '/company/$company_id/connections',
      link: 'View connections',
    },
  ]
}
