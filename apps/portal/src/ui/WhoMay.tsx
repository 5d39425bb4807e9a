import { type Action, actions, type MemberRole, mayDo, rolesOf, type Side } from '@bridgework/contract/portal'
import { Text } from '@mantine/core'
import { t } from '../language/t.ts'

const words: Record<MemberRole, string> = {
  owner: t('the owner'),
  admin: t('an admin'),
  member: t('a member'),
  support: t('support'),
}

/** Says who may do what the reader's role may not. `what` completes "… can"; `side`: of an action of any side. */
export function WhoMay({
  action,
  what,
  side = actions[action].side,
}: {
  action: Action
  what: string
  side?: Side | null
}) {
  const roles: readonly MemberRole[] =
    side === null ? actions[action].roles : rolesOf[side].filter((role) => mayDo(role, action, side))
  const who = roles.map((role) => words[role]).join(t(' or '))
  return (
    <Text size="sm" c="dimmed">
      {t('{who} can {what}.', { who: who.charAt(0).toUpperCase() + who.slice(1), what })}
    </Text>
  )
}
