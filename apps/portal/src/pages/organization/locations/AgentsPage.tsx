import type { AgentEntry } from '@bridgework/contract/portal'
import { Button, Card, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDeviceDesktop, IconPlus } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { read, useAct } from '../../../api/query.ts'
import { useMay } from '../../../api/session.ts'
import { AgentProblems } from '../../../ui/AgentProblems.tsx'
import { AgentState } from '../../../ui/AgentState.tsx'
import { AgentVersion } from '../../../ui/AgentVersion.tsx'
import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import { DataTable } from '../../../ui/DataTable.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { SearchField } from '../../../ui/filters/SearchField.tsx'
import { PageHeader } from '../../../ui/PageHeader.tsx'
import { Section } from '../../../ui/Section.tsx'
import { useFound } from '../../../ui/state/found.ts'
import { When } from '../../../ui/When.tsx'
import { WhoMay } from '../../../ui/WhoMay.tsx'
import { AgentCopies } from './AgentCopies.tsx'
import { AgentUpdates } from './AgentUpdates.tsx'
import { EnrollAgent } from './EnrollAgent.tsx'

const outcomes = { refused: 'refused', rolled_back: 'rolled back' } as const

const route = getRouteApi('/signed-in/organization/$organization_id/agents')

/** The programs that read the practice's data: enroll one, see its state, revoke one. */
export function AgentsPage() {
  const params = route.useParams()
  const { data } = useSuspenseQuery(read('listAgents', { params }, { everyMs: 15_000 }))
  const found = useFound(data.data, ({ name, version, state }) => `${name} ${version} ${state}`)
  const may = useMay(params.organization_id)
  const [isEnrolling, { open, close }] = useDisclosure()
  const [revoked, setRevoked] = useState<AgentEntry | null>(null)
  const revoke = useAct('revokeAgent')
  const enrollButton = may('agent.enroll') && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      Enroll an agent
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Agents"
        description="An agent is a small program that reads your practice management system. It never writes to it and needs no open port."
        actions={data.data.length > 0 && enrollButton}
      />
      <Stack>
        <AgentCopies agents={data.data} organizationId={params.organization_id} />
        {data.data.length > 0 && <SearchField label="Search agents" />}
        <Card withBorder padding="md">
          {data.data.length === 0 ? (
            <EmptyState icon={IconDeviceDesktop} title="No agent yet" action={enrollButton}>
              Install an agent on a machine that can reach the database of your practice management system. This takes
              about five minutes.
            </EmptyState>
          ) : (
            <DataTable
              caption="Agents"
              rows={found}
              rowKey={({ id }) => id}
              columns={[
                { header: 'Agent', cell: ({ name }) => <Text size="sm">{name}</Text> },
                {
                  header: 'State',
                  cell: ({ state, problems, reading }) => (
                    // What to do stands below the table.
                    <AgentState state={state} problems={problems.map(({ what }) => ({ what }))} reading={reading} />
                  ),
                },
                { header: 'Last contact', cell: ({ last_contact_at }) => <When at={last_contact_at} /> },
                { header: 'Enrolled', cell: ({ enrolled_at }) => <When at={enrolled_at} /> },
                {
                  header: 'Version',
                  cell: ({ version, failed_release }) => (
                    <>
                      <AgentVersion version={version} />
                      {failed_release && (
                        <Text size="xs" c="dimmed">
                          {failed_release.version} was {outcomes[failed_release.outcome]}
                        </Text>
                      )}
                    </>
                  ),
                },
                ...(may('agent.revoke')
                  ? [
                      {
                        header: 'Actions',
                        isHidden: true,
                        align: 'right' as const,
                        cell: (agent: AgentEntry) =>
                          agent.state !== 'revoked' && (
                            <Button
                              variant="default"
                              size="xs"
                              onClick={() => setRevoked(agent)}
                              aria-label={`Revoke ${agent.name}`}
                            >
                              Revoke…
                            </Button>
                          ),
                      },
                    ]
                  : []),
              ]}
            />
          )}
        </Card>
        {data.data.map(
          ({ id, name, problems }) =>
            problems.length > 0 && (
              <Section key={id} title={`What ${name} reports`}>
                <Stack>
                  <AgentProblems problems={problems} />
                </Stack>
              </Section>
            ),
        )}
        <AgentUpdates organizationId={params.organization_id} isOn={data.takes_updates} newest={data.newest_release} />
        {!may('agent.enroll') && <WhoMay action="agent.enroll" what="enroll and revoke agents" />}
      </Stack>
      <EnrollAgent opened={isEnrolling} onClose={close} organizationId={params.organization_id} />
      <ConfirmDialog
        opened={revoked !== null}
        onClose={() => setRevoked(null)}
        title="Revoke this agent?"
        typed={revoked?.name ?? ''}
        confirm="Revoke agent"
        onConfirm={async () => {
          if (!revoked) return
          await revoke.mutateAsync({ params: { ...params, agent_id: revoked.id } })
        }}
      >
        Its key stops working at once. Its locations are not updated until another agent reads them. Data that was
        already read stays. To use this machine again, enroll it again.
      </ConfirmDialog>
    </>
  )
}
