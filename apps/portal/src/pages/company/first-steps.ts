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

/** The way of a new vendor to its first record, in order, and how far this one has come. */
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
      title: 'Make a key pair',
      text: 'Your software signs in with it. The secret is shown once.',
      isDone: key_pair !== null,
      to: '/company/$company_id/keys',
      link: 'Make keys',
    },
    {
      title: 'Make the first call',
      text: 'Copy a snippet with your own client id, or try it from the page.',
      isDone: key_pair !== null && key_pair.last_used_at !== null,
      to: '/company/$company_id/quickstart',
      link: 'Open the quickstart',
    },
    {
      title: 'Be granted access by a practice',
      text: 'A practice chooses you on its own pages, with the locations and datasets that you may read.',
      isDone: connections.organizations > 0,
      to: '/company/$company_id/connections',
      link: 'See connections',
    },
  ]
}
