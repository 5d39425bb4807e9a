import type { AgentEntry, LocationPage } from '@bridgework/contract/portal'
import { Alert, Button, Group, Select, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read, useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { Section } from '../../../ui/Section.tsx'
import { When } from '../../../ui/When.tsx'
import { WhoMay } from '../../../ui/WhoMay.tsx'

/** The agent that writes at a location, and how another one takes its place. */
export function LocationAgent(props: {
  location: LocationPage
  params: { organization_id: string; location_id: string }
}) {
  const { params } = props
  const { name, writer } = props.location
  const { data: agents } = useSuspenseQuery(read('listAgents', { params }, { everyMs: 15_000 }))
  const mayTakeOver = useMay(params.organization_id)('agent.take_over')
  const [chosenId, setChosenId] = useState<string | null>(null)
  const [next, setNext] = useState<AgentEntry | null>(null)
  const takeOver = useAct('takeOverLocation')
  const others = agents.data.filter(({ id, state }) => state !== 'revoked' && id !== writer?.agent_id)
  const chosen = others.find(({ id }) => id === (chosenId ?? writer?.refused?.agent_id)) ?? null
  return (
    <Section title="Agent" description="Only one agent writes at a location, so that two cannot overwrite each other.">
      <Stack>
        {writer === null ? (
          <Text size="sm">No agent has written here yet. The first one that reads this location will.</Text>
        ) : (
          <Text size="sm">
            <b>{writer.name}</b> writes here; it began <When at={writer.since} />. Last contact:{' '}
            <When at={writer.last_contact_at} />.
            {writer.is_revoked && ' It was revoked: the next agent that reads this location takes its place.'}
          </Text>
        )}
        {writer?.refused && (
          <Alert color="orange">
            <Text size="sm" c="bright">
              Another agent, <b>{writer.refused.name}</b>, also reads this location and was refused{' '}
              <When at={writer.refused.at} />. Decide which of the two is right. Let it take over here, or stop it on
              its machine.
            </Text>
          </Alert>
        )}
        {others.length > 0 && mayTakeOver && (
          <Group align="flex-end">
            <Select
              label="Another agent"
              placeholder="Choose an agent"
              data={others.map((agent) => ({ value: agent.id, label: agent.name }))}
              value={chosen?.id ?? null}
              onChange={setChosenId}
            />
            <Button variant="default" disabled={chosen === null} onClick={() => setNext(chosen)}>
              Let it take over…
            </Button>
          </Group>
        )}
        {others.length > 0 && !mayTakeOver && <WhoMay action="agent.take_over" what="choose another agent" />}
      </Stack>
      <ConfirmDialog
        opened={next !== null}
        onClose={() => setNext(null)}
        title={`Let ${next?.name ?? ''} write at ${name}?`}
        confirm="Let it take over"
        onConfirm={async () => {
          if (next) await takeOver.mutateAsync({ params, body: { agent_id: next.id } })
        }}
      >
        {writer === null ? 'No other agent can write here then. ' : `${writer.name} is refused here from now on. `}
        What {next?.name} reads replaces what is stored: records that it does not find become removed. Choose it only if
        it reads the database that the practice works with.
      </ConfirmDialog>
    </Section>
  )
}
