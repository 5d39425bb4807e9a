import type { Webhook } from '@bridgework/contract/portal'

type Type = Webhook['types'][number]

/** What each type of message is about, in the order of the form. */
export const webhookTypes: Record<Type, string> = {
  dataset: 'Data of a location changed, or a removal is held',
  grant: 'An access began or ended',
  location: 'A location is new, changed or closed',
  key: 'A key pair was generated or revoked',
  agreement: 'A new version of the agreement',
}

export const allTypes = Object.keys(webhookTypes) as Type[]
