import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { Section } from '../../../ui/Section.tsx'

/** Whether the practice's agents update themselves. */
export function AgentUpdates({
  organizationId,
  isOn,
  newest,
}: {
  organizationId: string
  isOn: boolean
  newest: string | null
}) {
  const mayChange = useMay(organizationId)('agent_updates.change')
  const [isAsking, { open, close }] = useDisclosure()
  const change = useAct('setAgentUpdates')
  return (
    <Section
      title="Updates"
      description="Agents can update themselves: they download a new version from Bridgework, verify its signature, and go back when it does not work."
      actions={
        mayChange && (
          <Button variant="default" onClick={open}>
            {isOn ? 'Turn off updates…' : 'Turn on updates…'}
          </Button>
        )
      }
    >
      <Text size="sm">
        Updates are {isOn ? 'on' : 'off'}. {newest === null ? 'No version is published.' : `Newest version: ${newest}.`}
      </Text>
      <ConfirmDialog
        opened={isAsking}
        onClose={close}
        title={isOn ? 'Turn off updates of agents?' : 'Turn on updates of agents?'}
        confirm={isOn ? 'Turn off updates' : 'Turn on updates'}
        color={isOn ? 'red.9' : 'indigo'}
        onConfirm={() => change.mutateAsync({ params: { organization_id: organizationId }, body: { is_on: !isOn } })}
      >
        {isOn
          ? 'From now on your agents keep their version until someone installs another one on their computers. A version that they have taken stays.'
          : 'From their next contact on, your agents take new versions that the operator of Bridgework publishes, without asking you each time. An agent that was installed without the publisher’s key takes none.'}
      </ConfirmDialog>
    </Section>
  )
}
