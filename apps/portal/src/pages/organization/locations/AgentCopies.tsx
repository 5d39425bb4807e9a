import type { AgentEntry } from '@bridgework/contract/portal'
import { Alert, Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { When } from '../../../ui/When.tsx'
import { WhoMay } from '../../../ui/WhoMay.tsx'

type Copied = AgentEntry & { copy: NonNullable<AgentEntry['copy']> }

/** The agents of which a second copy was refused, and how that one takes the place of the first. */
export function AgentCopies({ agents, organizationId }: { agents: readonly AgentEntry[]; organizationId: string }) {
  const mayTakeOver = useMay(organizationId)('agent.take_over')
  const takeOver = useAct('takeOverAgent')
  const [next, setNext] = useState<Copied | null>(null)
  const copied = agents.filter((agent): agent is Copied => agent.copy !== null && agent.state !== 'revoked')
  return (
    <Stack gap="xs">
      {copied.map((agent) => (
        <Alert key={agent.id} color="orange">
          <Stack gap="xs" align="flex-start">
            <Text size="sm" c="bright">
              A second copy of <b>{agent.name}</b> was refused. Requests come from the computer <b>{agent.computer}</b>.
              A copy on <b>{agent.copy.computer}</b> was refused <When at={agent.copy.at} />: its folder or its computer
              was copied, or an older state was put back. Decide which of the two is right. Let the copy take over, or
              stop it on its computer.
            </Text>
            {mayTakeOver ? (
              <Button size="xs" variant="default" onClick={() => setNext(agent)}>
                Let the copy take over…
              </Button>
            ) : (
              <WhoMay action="agent.take_over" what="choose the copy" />
            )}
          </Stack>
        </Alert>
      ))}
      <ConfirmDialog
        opened={next !== null}
        onClose={() => setNext(null)}
        title={`Let the copy on ${next?.copy.computer ?? ''} take over?`}
        confirm="Let it take over"
        onConfirm={async () => {
          if (!next) return
          const params = { organization_id: organizationId, agent_id: next.id }
          await takeOver.mutateAsync({ params, body: { process_id: next.copy.process_id } })
        }}
      >
        The copy on {next?.computer ?? ''} is refused from now on. What the other one reads replaces what is stored:
        records that it does not find become removed. Choose it only if it reads the database that the practice works
        with.
      </ConfirmDialog>
    </Stack>
  )
}
