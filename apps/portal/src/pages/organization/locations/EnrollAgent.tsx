import type { AgentEntry, EnrolmentCode } from '@bridgework/contract/portal'
import { Anchor, Button, Group, List, Loader, Modal, Stack, Tabs, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read, useAct } from '../../../api/query.ts'
import { AgentProblems, ReadingNow } from '../../../ui/AgentProblems.tsx'
import { CopyField, Snippet } from '../../../ui/Copy.tsx'
import { ErrorNote } from '../../../ui/ErrorNote.tsx'
import { When } from '../../../ui/When.tsx'

type Enrolment = { code: EnrolmentCode; known: ReadonlySet<string> }

/** Generates a one-time code, shows the commands to run, and updates when the new agent connects. */
export function EnrollAgent({
  opened,
  onClose,
  organizationId,
}: {
  opened: boolean
  onClose: () => void
  organizationId: string
}) {
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null)
  const params = { organization_id: organizationId }
  const create = useAct('createEnrolmentCode')
  const { data: agents } = useQuery({
    ...read('listAgents', { params }, { everyMs: 2_000 }),
    enabled: opened,
  })
  const agent = enrolment && agents?.data.find(({ id }) => !enrolment.known.has(id))
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => {
        setEnrolment(null)
        create.reset()
      }}
      title="Enroll an agent"
      size="lg"
      // A stray click or key must not take away a code that is shown once.
      closeOnClickOutside={enrolment === null}
      closeOnEscape={enrolment === null}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {enrolment === null ? (
        <Stack>
          <Text size="sm">
            You get a one-time code and the commands to run on the agent’s machine. You need an administrator of that
            machine: the agent asks which database to read.
          </Text>
          <ErrorNote error={create.error} />
          <Group justify="flex-end">
            <Button
              loading={create.isPending}
              data-autofocus
              onClick={() => {
                const known = new Set(agents?.data.map(({ id }) => id))
                create.mutate({ params }, { onSuccess: (code) => setEnrolment({ code, known }) })
              }}
            >
              Generate code
            </Button>
          </Group>
        </Stack>
      ) : (
        <Stack>
          <CopyField label="One-time code" value={enrolment.code.code} />
          <Text size="sm" c="dimmed">
            Shown only now. It expires <When at={enrolment.code.expires_at} />.
          </Text>
          <Text size="sm">
            Run the commands on the computer that hosts the database. The guide{' '}
            <Anchor href="/guides/install-the-agent" target="_blank" inherit underline="always">
              Install the agent
            </Anchor>{' '}
            explains each step, and how the agent reads other systems.
          </Text>
          <Tabs defaultValue={ownSystem()} keepMounted={false}>
            <Tabs.List mb="sm">
              {enrolment.code.systems.map(({ name }) => (
                <Tabs.Tab key={name} value={name}>
                  {name}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            {enrolment.code.systems.map(({ name, note, downloads, steps }) => (
              <Tabs.Panel key={name} value={name}>
                <Stack gap="sm">
                  <Text size="sm">{note}</Text>
                  {downloads.length > 0 && (
                    <List size="sm" aria-label={`Downloads for ${name}`}>
                      {downloads.map((file) => (
                        <List.Item key={file.name}>
                          {file.label}:{' '}
                          <Anchor href={file.url} download inherit underline="always">
                            {file.name}
                          </Anchor>
                        </List.Item>
                      ))}
                    </List>
                  )}
                  {steps.map(({ title, command }, index) => (
                    <Snippet key={title} label={`${index + 1}. ${title}`} code={command} />
                  ))}
                </Stack>
              </Tabs.Panel>
            ))}
          </Tabs>
          <Heard agent={agent ?? null} />
          <Group justify="flex-end">
            <Button variant={agent ? 'filled' : 'default'} onClick={onClose}>
              {agent ? 'Done' : 'Close'}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}

/** The system of this computer, which is often the one of the office. */
function ownSystem(): string {
  if (/Mac/.test(navigator.userAgent)) return 'macOS'
  return /Linux/.test(navigator.userAgent) ? 'Linux' : 'Windows'
}

function Heard({ agent }: { agent: AgentEntry | null }) {
  const isConnected = agent?.state === 'connected'
  return (
    <Stack gap="sm">
      <Group gap="sm" wrap="nowrap" role="status">
        {isConnected ? (
          <IconCircleCheck color="var(--mantine-color-teal-text)" aria-hidden />
        ) : (
          <Loader size="sm" aria-hidden />
        )}
        <Text size="sm" fw={500}>
          {isConnected
            ? `Connected: ${agent.name}`
            : agent
              ? `${agent.name} used the code. Waiting for its first report…`
              : 'Waiting for the agent…'}
        </Text>
      </Group>
      {agent && <AgentProblems problems={agent.problems} />}
      {agent?.reading && <ReadingNow reading={agent.reading} />}
    </Stack>
  )
}
