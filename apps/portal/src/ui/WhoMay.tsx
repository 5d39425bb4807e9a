import { type Action, actions, type MemberRole } from '@bridgework/contract/portal'
import { Text } from '@mantine/core'

const words: Record<MemberRole, string> = { owner: 'the owner', admin: 'an admin', member: 'a member' }

/** Says who may do what the reader's role may not. `what` completes "… can". */
export function WhoMay({ action, what }: { action: Action; what: string }) {
  const who = actions[action].roles.map((role) => words[role]).join(' or ')
  return (
    <Text size="sm" c="dimmed">
      {who.charAt(0).toUpperCase() + who.slice(1)} can {what}.
    </Text>
  )
}
