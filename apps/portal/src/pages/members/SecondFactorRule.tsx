import type { Member, Side } from '@bridgework/contract/portal'
import { Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read, useAct } from '../../api/query.ts'
import { useMay } from '../../api/session.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Section } from '../../ui/Section.tsx'
import { StateBadge } from '../../ui/StateBadge.tsx'
import { When } from '../../ui/When.tsx'
import { WhoMay } from '../../ui/WhoMay.tsx'

/** Whether all members need a second factor, and the owner's switch for it. */
export function SecondFactorRule({
  tenant,
  side,
  members,
}: {
  tenant: { tenant_id: string }
  side: Side
  members: readonly Member[]
}) {
  const { second_factor_since: since } = useSuspenseQuery(read('getSignInRule', { params: tenant })).data
  const mayChange = useMay(tenant.tenant_id)('sign_in_rule.change')
  const change = useAct('changeSignInRule')
  const [isAsking, setIsAsking] = useState(false)
  const without = members.filter((member) => member.state === 'active' && !member.has_second_factor).length
  const isOn = since !== null
  return (
    <Section
      title="Second factor"
      description="An authenticator app or a passkey, so that a stolen password opens nothing."
      actions={isOn && <StateBadge state="in_force" label="Required" />}
    >
      <Text size="sm">
        {isOn ? (
          <>
            Required of all members. This was set <When at={since} />.{' '}
          </>
        ) : (
          'Not required. '
        )}
        {withoutWords(without)}
      </Text>
      {mayChange ? (
        <Group>
          <Button variant={isOn ? 'default' : 'filled'} onClick={() => setIsAsking(true)}>
            {isOn ? 'Stop requiring it' : 'Require a second factor'}
          </Button>
        </Group>
      ) : (
        <WhoMay action="sign_in_rule.change" side={side} what="change this" />
      )}
      <ConfirmDialog
        opened={isAsking}
        onClose={() => setIsAsking(false)}
        title={isOn ? 'Stop requiring a second factor?' : 'Require a second factor?'}
        confirm={isOn ? 'Stop requiring it' : 'Require it'}
        {...(!isOn && { color: 'blue' })}
        onConfirm={async () => {
          await change.mutateAsync({ params: tenant, body: { second_factor_required: !isOn } })
          notifications.show({
            message: isOn ? 'A second factor is optional now.' : 'A second factor is required now.',
          })
        }}
      >
        {isOn
          ? 'Members may then remove their second factor, and sign in with a password alone.'
          : 'Members without one get an e-mail. At their next sign-in they set one up, and can do nothing else here before. Your own account needs one first.'}
      </ConfirmDialog>
    </Section>
  )
}

function withoutWords(count: number): string {
  if (count === 0) return 'Every active member has one.'
  return count === 1 ? '1 active member has none yet.' : `${count} active members have none yet.`
}
